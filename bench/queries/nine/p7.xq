<result>{
  for $c in //item
  where $c/location = "Albania"
  return <item>{ $c/quantity, $c/payment }</item>
}</result>
