(: All persons by their interest, with their profile in French: grouping and construction.
   Changed: sorted, since the order of distinct-values is up to the processor. :)
for $i in distinct-values(/site/people/person/profile/interest/@category)
let $p :=
  for $t in /site/people/person
  where $t/profile/interest/@category = $i
  return
    <personne>
      <statistiques>
        <sexe>{ $t/profile/gender/text() }</sexe>
        <age>{ $t/profile/age/text() }</age>
        <education>{ $t/profile/education/text() }</education>
        <revenu>{ fn:data($t/profile/@income) }</revenu>
      </statistiques>
      <coordonnees>
        <nom>{ $t/name/text() }</nom>
        <rue>{ $t/address/street/text() }</rue>
        <ville>{ $t/address/city/text() }</ville>
        <pays>{ $t/address/country/text() }</pays>
        <reseau>
          <courrier>{ $t/emailaddress/text() }</courrier>
          <pagePerso>{ $t/homepage/text() }</pagePerso>
        </reseau>
      </coordonnees>
      <cartePaiement>{ $t/creditcard/text() }</cartePaiement>
    </personne>
order by $i
return <categorie>{ <id>{ $i }</id>, $p }</categorie>
