"""Countries, provinces and cities, as distributions."""

from bench.dice import Dice, mostly
from bench.words import surnames

COUNTRIES = (
    """
Afghanistan|Algeria|Andorra|Angola|Argentina|Armenia|Australia|Austria|Azerbaijan|Bahamas|Bahrain
Bangladesh|Barbados|Belarus|Belgium|Belize|Benin|Bhutan|Bolivia|Botswana|Brazil|Bulgaria|Burundi
Cambodia|Cameroon|Canada|Chad|Chile|China|Colombia|Comoros|Costa Rica|Croatia|Cuba|Cyprus
Czech Republic|Denmark|Djibouti|Dominica|East Timor|Ecuador|Egypt|El Salvador|Eritrea|Estonia
Ethiopia|Fiji|Finland|France|Gabon|Gambia|Georgia|Germany|Ghana|Greece|Grenada|Guatemala|Guinea
Guyana|Haiti|Honduras|Hungary|Iceland|India|Indonesia|Iran|Iraq|Ireland|Israel|Italy|Jamaica|Japan
Jordan|Kazakhstan|Kenya|Kiribati|Kuwait|Laos|Latvia|Lebanon|Lesotho|Liberia|Libya|Liechtenstein
Lithuania|Luxembourg|Madagascar|Malawi|Malaysia|Maldives|Mali|Malta|Mauritania|Mauritius|Mexico
Moldova, Republic Of|Monaco|Mongolia|Morocco|Mozambique|Myanmar|Namibia|Nauru|Nepal|Netherlands
New Zealand|Nicaragua|Niger|Nigeria|Norway|Oman|Pakistan|Palau|Panama|Paraguay|Peru|Philippines
Poland|Portugal|Qatar|Romania|Rwanda|Samoa|San Marino|Saudi Arabia|Senegal|Seychelles|Singapore
Slovakia|Slovenia|Somalia|South Africa|Spain|Sri Lanka|Sudan|Suriname|Sweden|Switzerland|Syria
Taiwan|Tajikistan|Tanzania|Thailand|Togo|Tonga|Trinidad And Tobago|Tunisia|Turkey|Tuvalu|Uganda
Ukraine|United Kingdom|Uruguay|Uzbekistan|Vanuatu|Venezuela|Vietnam|Yemen|Zambia|Zimbabwe
""".strip()
    .replace("\n", "|")
    .split("|")
)

# Albania stands for about one item in a hundred: the published path queries ask for it, and their
# answers must be neither empty on a small document nor large on a big one.
ABROAD = (*COUNTRIES, *("Albania",) * 6)
LOCATIONS = mostly("United States", 75, ABROAD)
COUNTRIES_OF_PERSONS = mostly("United States", 78, ABROAD)

PROVINCES = (
    """
Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii
Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan
Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|New Hampshire|New Jersey|New Mexico|New York
North Carolina|North Dakota|Ohio|Oklahoma|Oregon|Pennsylvania|Rhode Island|South Carolina
South Dakota|Tennessee|Texas|Utah|Vermont|Virginia|Washington|West Virginia|Wisconsin|Wyoming
""".strip()
    .replace("\n", "|")
    .split("|")
)

ENDINGS = ("ton", "ville", "ham", " City", "burg", " Falls", "", "")
SUFFIXES = ("com", "com", "edu", "edu", "org", "net", "de", "fr", "jp", "ca")


def _cities(dice: Dice) -> tuple[str, ...]:
    return tuple(dice.one(surnames()) + dice.one(ENDINGS) for _ in range(400))


def _domains(dice: Dice) -> tuple[str, ...]:
    return tuple(f"{dice.one(surnames()).lower()}.{dice.one(SUFFIXES)}" for _ in range(200))


CITIES = _cities(Dice(0, "cities"))
DOMAINS = _domains(Dice(0, "domains"))
