"""Function words of the recognised languages, most frequent first.

Articles, prepositions, pronouns, conjunctions and the forms of *to be* and *to have* make up a
third to a half of any prose, whatever it is about, so that a few dozen of them tell a language from
any sentence of it. They are written as they are read after case folding, which makes *ss* of *ß*.
"""

from __future__ import annotations

from collections.abc import Mapping

GRAMMAR: Mapping[str, str] = {
    # Latin script
    "English": (
        "the of and to a in is that for it was on with as be at by this are from or have an not "
        "you i he his they but which we had her she has were their one all can will there been if "
        "more when would who my your so what about out up said its no do than into them some "
        "could him me only then other after over also how our two any may these such where most "
        "through because between being those before must should us while am did does don just "
        "very here why without under again off down now too own both each until against during "
        "himself itself themselves isn doesn didn wasn couldn won ll ve re let"
    ),
    "German": (
        "die der und in das den ist zu von mit sich des im nicht auf eine ein dem es an als auch "
        "für wird werden aus bei einer um er sie ich daß dass wie oder nach einen zum haben sind "
        "hat noch durch vor zur über aber kann wenn man so nur einem eines diese dieser dieses "
        "ihr wir war mehr sein seine mich mir uns ihre unter wurde sehr können dann nun schon "
        "hatte doch bis kein keine weil ob sondern gibt müssen ohne da was am"
    ),
    "French": (
        "de la le et les des en un du une que est pour qui dans à il par pas au sur plus ne se ce "
        "sont avec son ou cette elle mais vous nous je on sa ses leur même aux être comme fait "
        "été tout si peut ces deux ont sans entre dont aussi bien très était lui y avait faire où "
        "donc ils elles mon ma mes votre notre c d l n s j qu lorsque ainsi moi toi ça"
    ),
    "Spanish": (
        "de la que el en y a los se del las un por con no una su para es al lo como más o pero "
        "sus le ha me si sin sobre este ya entre cuando todo esta ser son dos también fue había "
        "era muy años hasta desde está mi porque qué sólo han yo hay donde quien nos uno ni "
        "contra ese eso ella él esto tiene puede así tu te estos otra otros unos están"
    ),
    "Italian": (
        "di e che il la in un a per è non una del le con da i si della sono al nel più dei come "
        "alla gli ha anche lo delle ma se su dal mi ci dalla nella questo questa o l d era essere "
        "suo sua io ho lui lei cui tra due quando degli stato fra dopo ai così perché poi però "
        "sul tutto tutti hanno può cosa ogni loro ne dell all nell c sulla solo già"
    ),
    "Portuguese": (
        "de a o que e do da em um para com não uma os no se na por mais as dos como mas ao ele "
        "das à seu sua ou quando muito nos já eu também só pelo pela até isso ela entre depois "
        "sem mesmo aos seus quem nas me esse eles você essa num nem suas meu às minha numa foi "
        "são é está ser ter há tem pode lhe este esta isto foram era"
    ),
    "Dutch": (
        "de van het een en in is dat op te zijn met voor die niet aan er om ook als bij dan maar "
        "of door over uit nog naar wordt hij heeft worden ze je ik zich was tot kan deze wel meer "
        "hebben dit we haar mijn werd al zo wat geen hun had moet kunnen omdat onder waar tegen "
        "zij ons u na hoe veel welke toen zou mij hem"
    ),
    "Polish": (
        "w i na się z do nie to że o jest jak po a od co za przez dla ale tym czy jego są oraz "
        "tak może już tylko ich był który która które by być było była ma jej go tego ten ta te "
        "przy bardzo mnie pod więc jako gdy ze we lub aby nad kiedy jeszcze również sobie mi ja "
        "on ona ponieważ można"
    ),
    "Turkish": (
        "ve bir bu da de için ile olarak çok daha olan gibi o en ne kadar sonra ama ben her var "
        "ya mi değil ki şey ise olduğu onun diye yok nasıl bunu hiç veya bana sen beni böyle biz "
        "tarafından göre oldu olduğunu etmek ancak bütün önce üzerinde iki şu fakat çünkü hem "
        "benim bunun zaman sadece ayrıca"
    ),
    "Swedish": (
        "och i att det som en på är av för med den till inte har de ett om jag var han men sig så "
        "från vi kan hade när man ska eller också hon där efter vid än nu över skulle sin mot då "
        "bara alla detta finns mycket sina vad mig ut under upp dig blir dem oss här några hur "
        "varit blev något utan"
    ),
    "Danish": (
        "og i at det er en til af på som for den med de ikke har jeg der et han var om så men sig "
        "fra vi kan hun skal også efter hvor når eller blev være havde nu ved over mod vil ud min "
        "blive meget hvad op kun sin mig dem noget ville hans alle mere under da dig skulle"
    ),
    "Norwegian": (
        "og i det er på som en til av for at med den de ikke har jeg et han var om så men seg fra "
        "vi kan hun skal også etter hvor når eller ble være hadde nå ved over mot vil ut min bli "
        "mye hva opp bare sin meg dem noe ville hans alle mer under da deg skulle ikkje eg ein"
    ),
    "Finnish": (
        "ja on ei se että hän oli mutta kun niin kuin joka mitä myös tai ovat jos nyt sen ole "
        "minä vain ne mukaan sitä hänen olen jo tämä tämän sekä ollut olisi voi jonka jotka siitä "
        "koska minun mikä sinä tässä ennen kanssa sitten ettei eivät kaikki enemmän missä hyvin"
    ),
    "Estonian": (
        "ja on ei et see kui ta oma oli ka mis aga ning nii või siis ma seda selle kes välja ära "
        "need tema veel nagu pole mida olid kuid siin juba vaid ole nad mina sest mille üle kõik "
        "peale selles"
    ),
    "Hungarian": (
        "a az és hogy nem is egy ez csak volt meg de van ha még már el mint azt kell vagy ki én "
        "be fel ezt mert most le ami azonban lehet amely majd minden sem ő nagyon után szerint "
        "pedig akkor mi olyan így sok között által volna lesz össze te aki"
    ),
    "Czech": (
        "a v se na je že to s z do o i ve jsem pro za by k jako ale si po od jeho jsou tak které "
        "který která až nebo už jen ze při co není byl byla bylo podle před také má než pak aby "
        "ho když nich může být mi své kde tím jsme ještě velmi"
    ),
    "Slovak": (
        "a v sa na je že to s z do o aj vo som pre za by k ako ale si po od jeho sú tak ktoré "
        "ktorý ktorá až alebo už len zo pri čo nie bol bola bolo podľa pred tiež má než potom aby "
        "ho keď môže byť mi svoje kde tým sme ešte veľmi"
    ),
    "Slovenian": (
        "in je v se na da so za ki pa ne z tudi bi po kot s o ni od do pri bilo sem kar ali bil "
        "bila ter še iz lahko že to ko k med samo le več zelo ker smo vse ga jih kako ob bolj"
    ),
    "Croatian or Serbian": (
        "i je u se na da su za od a s nije to sam o kao koji koja koje iz ne ili što bi po biti "
        "ali do samo kako bio bila ga te već sve bilo jer ako može nego kada mu sa tako još više "
        "me njegov ću ima smo nakon između"
    ),
    "Romanian": (
        "de și în a la cu o că nu să care pe din un este mai pentru au ce se al fi sunt fost prin "
        "dar ca lui era după între am sau ale cel are dacă cum nici când sa ei lor foarte această "
        "acest numai până fără unei unui va mi îl le"
    ),
    "Catalan": (
        "de la i el que a en les els un per amb una del no és al es va ser com més dels o ha són "
        "van també pel seva seu però aquesta aquest hi entre fins quan tot sobre si molt han als "
        "perquè havia era on sense"
    ),
    "Galician": (
        "de a e o que do en da un unha os para na con no por non se é as dos das foi ao á como "
        "máis seu súa pola polo tamén mais entre ou está cando ata nos moi ser onde este esta "
        "sobre dun dunha"
    ),
    "Basque": (
        "eta da ez bat zen du ere izan dira edo zuen baina hau hori den beste bere dute egin oso "
        "dio baino ziren horrek nik zer bai gero arte baten izango hala dituzte"
    ),
    "Latin": (
        "et in est non ad ut cum quod qui ex sed de si quae ab per esse enim sunt a nec quam "
        "atque aut etiam hoc quid se erat autem eius quo ac ne me eum te sic haec"
    ),
    "Esperanto": (
        "la de kaj en estas al ke ne li mi por kun ĝi tiu oni kiu pri estis sed el tio kiel ili "
        "ŝi vi pli sur da ni ankaŭ aŭ kio tre nur ĉi per post povas sia"
    ),
    "Vietnamese": (
        "và của là có được cho các trong một với người những không này đã khi từ ở để đến về cũng "
        "nhưng như ra vào tôi năm nhiều đó theo sẽ trên còn bị tại hay hơn phải nhất thì rằng ông "
        "nó vì làm sau mà anh chỉ rất họ nếu lại đang"
    ),
    "Indonesian or Malay": (
        "yang dan di dengan untuk dari ini pada itu dalam tidak adalah akan oleh ke saya sebagai "
        "juga atau dia telah ada mereka karena kerana dapat lebih bisa kita tersebut anda seperti "
        "kami hanya tetapi bahwa bahawa bagi sudah belum lagi menjadi sangat orang"
    ),
    "Tagalog": (
        "ang ng sa na mga at ay ko ni hindi si siya nang ito para kung mo isang ako niya kanyang "
        "naman lang din rin pa po ka may mula ating sila dahil wala kanilang tayo ngunit upang"
    ),
    "Swahili": (
        "ya na wa kwa ni katika za la cha kuwa kama hii hiyo lakini au yake wake pia huo sana "
        "mimi hivyo ili baada kutoka zaidi hata alikuwa ambao wakati watu yao kila hayo kwamba"
    ),
    "Somali": (
        "oo ka iyo ku in ee waxa waa uu la ay ah u kale si ama soo ayaa lagu aan waxaa inuu isku "
        "inay wuxuu laga kala markii"
    ),
    "Hausa": (
        "da a na ta ya ba shi don wanda kuma cikin wannan ne ce ga sun zai yana kan daga suka "
        "tare su ke sai yi idan amma har"
    ),
    "Yoruba": (
        "ni ti o si awọn fun lati pe ati wọn ní ló sì bí kan ṣe náà àwọn wà ó tí fún láti ọ̀ nínú "
        "yìí jẹ́ àti gbogbo"
    ),
    "Zulu or Xhosa": (
        "ukuthi futhi kanye noma ngoba kodwa uma lapho ngesikhathi kakhulu yakhe abantu bonke "
        "ukuba kwaye okanye xa kunye ke"
    ),
    "Afrikaans": (
        "die van en in is het nie te dat vir op met wat om as was aan hy sy ek word deur ook "
        "hulle kan sal jy maar of na baie ons daar by uit so hierdie kon wees een dit julle meer"
    ),
    "Irish": (
        "an na agus ar a i ag go is le bhí tá sé do atá mar ach nach sin siad ní é ó sí leis seo "
        "aige chun gur féin raibh bhfuil faoi"
    ),
    "Welsh": (
        "y yn a i o ar yr mae ei ac wedi gan am ond oedd fel hyn bod hi nid na mewn dim nhw hefyd "
        "sydd eu cael roedd ein pan neu un fod"
    ),
    "Icelandic": (
        "og að í á er sem til við um hann ekki en með það var af fyrir því ég hún þeir þá svo eru "
        "þetta frá hafa sig þegar eða hefur eftir verið þess sagði mér einn"
    ),
    "Latvian": (
        "un ir no ar kas par uz bet ka kā arī lai pie tas viņš nav vai tika tā jau pēc es to bija "
        "tikai šo gan gada var ja līdz kur savu kad"
    ),
    "Lithuanian": (
        "ir yra kad į iš buvo bet su kaip tai jis ar nuo apie už jo dar tik po jau nėra taip savo "
        "kai šis gali prie iki jei jos mes man ne aš labai tada"
    ),
    "Albanian": (
        "e të në dhe i një për me që nga më se ka është si nuk do u por kjo janë ky tij kur "
        "kishte ishte edhe duke mund këtë shumë"
    ),
    "Maltese": (
        "li u ta fil minn il ma għal biex din dan huwa għandu jew hija kien kienet mill jista "
        "tkun tal bħala"
    ),
    "Azerbaijani": (
        "və bir bu ilə üçün də ki olan daha o kimi çox var edir olaraq onun hər sonra mən isə "
        "deyil idi ən lakin amma biz"
    ),
    "Uzbek": (
        "va bu bilan uchun bir ham deb edi esa bo kerak lekin yoki uning men shu keyin kabi emas "
        "juda hamda orqali qilish"
    ),
    "Kurdish": "û di de ku bi ji li ye bû ev in jî ew yên dibe wek hene ne da bo min te gelek",
    "Haitian Creole": (
        "nan yo ki pou li yon te ak la pa sou gen nou mwen se ou men tout epi kote fè lè sa"
    ),
    "Vietnamese without accents": (
        "va cua la duoc cho cac trong mot voi nguoi nhung khong nay khi tu den cung nhu ra vao toi "
        "nhieu theo se tren bi hay hon phai nhat thi rang lam anh rat lai dang chung biet neu viec"
    ),
    "Hindi in Latin letters": (
        "hai ka ki ke mein aur se ko nahi nahin yeh bhi kya hain kar tha raha rahe hum unke liye "
        "jab woh iske apne kuch hota gaya diya"
    ),
    "Malagasy": (
        "ny sy fa dia ao amin tamin an ho izany ity izay misy tsy koa ary rehefa olona azy io nefa"
    ),
    "Maori": (
        "te o ki i nga he ka kua ana hoki ia ko tenei mo me mai atu ratou kia iho nei tona raua "
        "ahau ngā mō rātou tēnei tōna"
    ),
    "Hawaiian": "ka ke o i ma na me nei ua ia keia aku mai lakou hoi kona au la kēia nā lākou",
    "Samoan": "le o i ma lea na ua ai mai ia ona latou lenei tagata ina ae aua lava uma e te fa",
    "Javanese": (
        "ing lan kang sing iku iki karo ora saka minangka dadi ana uga ingkang wong kanggo nanging "
        "yen marang kula punika wonten dening"
    ),
    "Sundanese": (
        "jeung nu di ka anu teu ieu aya dina sareng ti kana urang atawa lian geus bisa pikeun mun "
        "ngan jadi kudu"
    ),
    "Cebuano": (
        "sa ang nga mga usa kini nila kay ug og dili sila kang iyang unya didto aron adunay nako "
        "gikan siya niini"
    ),
    "Ilocano": "ti nga iti ken dagiti ket kadagiti saan daytoy isu adda maysa idi manen kas wenno",
    "Kinyarwanda or Kirundi": (
        "mu ku na kandi muri cyangwa ko kuri iyi cane cyane uyu ariko kugira abantu ndetse aho "
        "ivyo umuntu gusa canke ibyo"
    ),
    "Shona": (
        "uye kuti kana asi zvakare iyi ndi mune vanhu kune pane kwete izvi pamusoro ake uyo zvino "
        "munhu ari"
    ),
    "Chichewa": (
        "ndi kuti pa ya wa mu ku koma anthu kwa monga kapena amene chifukwa ndipo zimene munthu "
        "uyu ali"
    ),
    "Sotho or Tswana": (
        "le ya ka ba go ke mo fa gore ga e o bo tsa wa se re ho hore empa kapa batho mme motho tse "
        "kgotsa fela mona"
    ),
    "Ganda": "mu ku nga ne era oba nti abantu okuba kubanga naye okuva omuntu buli ekyo ddala wa",
    "Oromo": (
        "kan fi akka keessa ta irraa yoo hin kana isaa waan ni jiru ture garuu namni haa isa dhaaf"
    ),
    "Igbo": (
        "na nke ndi ka ya bu n maka ma site onye ihe nwere ga ozo ndị bụ ọ ọzọ nwa ahụ gị ha nọ"
    ),
    "Hmong": (
        "thiab yog tus cov uas nyob hauv tsis kom rau lawv nws muaj peb koj ntawm no los tau ua"
    ),
    "Tok Pisin": (
        "long bilong ol na em i olsem dispela bai stap mi yu mipela yumi nau tasol sapos husat yet"
    ),
    "Breton": (
        "ar an er ha da eo a zo en gant ur un evit deus bet met pe ket ivez eus hag bezañ ma eta "
        "e ne vez"
    ),
    "Scottish Gaelic": (
        "agus an na air a tha gu do bha e is ann le bh anns gun aig chan sin nach am bheil ri mar "
        "iad seo chaidh airson"
    ),
    # Cyrillic script
    "Russian": (
        "и в не на что с он как это по но из у за от то о к для так же все я она его бы или мы вы "
        "если только когда был было уже при до ни чтобы они может быть её ее их мне есть еще ещё "
        "были будет этого этом под где том также которые который можно со себя чем"
    ),
    "Ukrainian": (
        "і в на не з що у до та як це за він від але й так про по його для є вона ми які чи або "
        "був коли бути вже при мене було їх якщо після те також має цього може через ви якій лише "
        "ще її щоб під"
    ),
    "Belarusian": (
        "і ў на не з што у да як гэта за ён але па яго для а ад мы яна якія ці або быў калі пра "
        "вы было іх таксама гэтага каб пры толькі яшчэ"
    ),
    "Bulgarian": (
        "на и да се за от в не е с че по са като той ще си до това но или към при така има беше "
        "през който която които след само още му може бил аз ако те ми без"
    ),
    "Serbian": (
        "и је у се на да су за од а није то сам као који која које из не или што би по бити али "
        "са само како био била га те већ све било јер ако може него када још више"
    ),
    "Macedonian": (
        "на и да во се од за не со е што ќе го ги по како но тој беше или ја кои кој која до му "
        "тоа само има сум може при"
    ),
    "Kazakh": (
        "және бұл мен да де үшін бір бар деп ол осы сол болып болды керек емес туралы оның көп өз "
        "кейін ғана"
    ),
    "Mongolian": (
        "нь байна энэ юм ба бол болон гэж их бөгөөд байсан түүний хийх манай тул дээр хүн олон "
        "ийм тэр би"
    ),
    # Arabic script
    "Arabic": (
        "في من على إلى أن التي عن لا ما هذا هذه الذي كان مع أو هو لم بين بعد كل قد ذلك هي كانت "
        "غير حيث عند له حتى إن ولا كما لها إذا فيه فيها وقد لكن ثم أي الى ان او يمكن وهو وفي منها "
        "يكون هنا تم ومن هناك"
    ),
    "Persian": (
        "و در به از که این را با است آن برای یک تا می بر خود شد بود هم نیز ها کرد ما شده باید هر "
        "بین او پس اما یا دارد اگر همه من نمی دو هستند"
    ),
    "Urdu": (
        "کے میں کی ہے اور سے کا کو اس نے پر ہیں یہ کہ ایک تھا بھی وہ تو ہو جو کر گیا نہیں ان کیا "
        "لیے ہی تھے کوئی اپنے ہم مگر تک"
    ),
}
"""Language to its words of grammar."""

SCRIPTS: Mapping[str, str] = {
    **dict.fromkeys(
        ("Russian", "Ukrainian", "Belarusian", "Bulgarian", "Serbian", "Macedonian"), "Cyrillic"
    ),
    **dict.fromkeys(("Kazakh", "Mongolian"), "Cyrillic"),
    **dict.fromkeys(("Arabic", "Persian", "Urdu"), "Arabic"),
}
"""The script of a language that is not written in the Latin one."""

LETTERS: Mapping[str, str] = {
    "English": "",
    "German": "äöüß",
    "French": "àâæçéèêëîïôœùûüÿ",
    "Spanish": "áéíñóúü",
    "Italian": "àèéìíîòóùú",
    "Portuguese": "áâãàçéêíóôõúü",
    "Dutch": "éëïóöü",
    "Polish": "ąćęłńóśźż",
    "Turkish": "çğıöşüâîi̇",
    "Swedish": "åäöé",
    "Danish": "æøåé",
    "Norwegian": "æøåéòô",
    "Finnish": "äöå",
    "Estonian": "äöõüšž",
    "Hungarian": "áéíóöőúüű",
    "Czech": "áčďéěíňóřšťúůýž",
    "Slovak": "áäčďéíĺľňóôŕšťúýž",
    "Slovenian": "čšž",
    "Croatian or Serbian": "čćđšž",
    "Romanian": "ăâîșțşţ",
    "Catalan": "àçéèíïóòúü·",
    "Galician": "áéíñóúü",
    "Basque": "ñç",
    "Latin": "āēīōūæœ",
    "Esperanto": "ĉĝĥĵŝŭ",
    "Vietnamese": ("àáâãèéêìíòóôõùúýăđĩũơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ"),
    "Indonesian or Malay": "é",
    "Tagalog": "ñ",
    "Hausa": "ɓɗƙƴ",
    "Yoruba": "àáèéẹìíòóọṣùúńǹ",
    "Afrikaans": "áéèêëíîïóôöúûü",
    "Irish": "áéíóú",
    "Welsh": "âêîôûŵŷ",
    "Icelandic": "áðéíóúýþæö",
    "Latvian": "āčēģīķļņšūž",
    "Lithuanian": "ąčęėįšųūž",
    "Albanian": "çë",
    "Maltese": "ċġħżàèìòù",
    "Azerbaijani": "çəğıöşüi̇",
    "Kurdish": "çêîşû",
    "Haitian Creole": "èòàé",
    "Malagasy": "àôñ",
    "Maori": "āēīōū",
    "Hawaiian": "āēīōū",
    "Samoan": "āēīōū",
    "Javanese": "éèê",
    "Sundanese": "éèê",
    "Cebuano": "ñ",
    "Ilocano": "ñ",
    "Sotho or Tswana": "ôêš",
    "Igbo": "àáèéịìíọòóụùúṅń",
    "Breton": "êñùü",
    "Scottish Gaelic": "àèéìòóù",
    "Russian": "абвгдежзийклмнопрстуфхцчшщъыьэюяё",
    "Ukrainian": "абвгдежзийклмнопрстуфхцчшщьюяєіїґ",
    "Belarusian": "абвгдежзйклмнопрстуфхцчшыьэюяёіў",
    "Bulgarian": "абвгдежзийклмнопрстуфхцчшщъьюя",
    "Serbian": "абвгдежзиклмнопрстуфхцчшђјљњћџ",
    "Macedonian": "абвгдежзиклмнопрстуфхцчшѓѕјљњќџ",
    "Kazakh": "абвгдежзийклмнопрстуфхцчшщъыьэюяёәғқңөұүһі",
    "Mongolian": "абвгдежзийклмнопрстуфхцчшщъыьэюяёөү",
    "Arabic": "ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىيـ",
    "Persian": "ءآأؤئابپتثجچحخدذرزژسشصضطظعغفقکگلمنوهیۀـ",
    "Urdu": "ءآأؤئابپتٹثجچحخدڈذرڑزژسشصضطظعغفقکگلمنںوہھیےۓۂـ",
}
"""The letters that a language is written with; of a Latin one, those beyond a to z."""

SIMPLIFIED = (
    "们这个来时会说对发学过还进样开现关问题长实点无动机电经将车应国书见门风飞马鸟鱼龙东乐买卖"
    "亲亿仅从众优伟传价体务单卫厂厅历压厌县参双变号叶吗听启员响园围图圆场坏块坚坛声处备复够头"
    "夹夺奋妇妈孙宁宝审宾层岁岛币师帐带帮库归当录态怀怜总恋恶惊惯愿战户执扩扫扬护报担择挡据"
    "损换摆断旧显术条杀权极构标栏树桥检楼欢残毕气汉汤沟没泪测济浅热爱牺状独狱环玛产画疗监盘码"
    "确础礼种称积稳穷笔简类粮红约级纪纯纳线练组细织终绍结给络绝统继续维综绿网罗罚职联肃胜脑脚"
    "节苏荣药获营虑虽补装观规视觉计订认讨让训议记讲许论设访证评识诉词译试话该详语误读课谁调谈谢"
    "质贵贴贸费资赛赞赶转轮软轻载较输边达迁运连远适选递遗邮释针钟钱铁银链错键镇闭间闻阅阳阴阶际"
    "陆险随难预领频饭馆验鲜"
)
"""Chinese characters that are simplified and written otherwise in traditional texts."""

TRADITIONAL = (
    "們這個來時會說對發學過還進樣開現關問題長實點無動機電經將車應國書見門風飛馬鳥魚龍東樂買賣"
    "親億僅從眾優偉傳價體務單衛廠廳歷壓厭縣參雙變號葉嗎聽啟員響園圍圖圓場壞塊堅壇聲處備復夠頭"
    "夾奪奮婦媽孫寧寶審賓層歲島幣師帳帶幫庫歸當錄態懷憐總戀惡驚慣願戰戶執擴掃揚護報擔擇擋據"
    "損換擺斷舊顯術條殺權極構標欄樹橋檢樓歡殘畢氣漢湯溝沒淚測濟淺熱愛犧狀獨獄環瑪產畫療監盤碼"
    "確礎禮種稱積穩窮筆簡類糧紅約級紀純納線練組細織終紹結給絡絕統繼續維綜綠網羅罰職聯肅勝腦腳"
    "節蘇榮藥獲營慮雖補裝觀規視覺計訂認討讓訓議記講許論設訪證評識訴詞譯試話該詳語誤讀課誰調談謝"
    "質貴貼貿費資賽贊趕轉輪軟輕載較輸邊達遷運連遠適選遞遺郵釋針鐘錢鐵銀鏈錯鍵鎮閉間聞閱陽陰階際"
    "陸險隨難預領頻飯館驗鮮"
)
"""Their traditional forms."""
