/** Large cities and capitals, the largest first: name, country, latitude and longitude to a hundredth of a degree. */
export const CITIES = `
Tokyo|JP|35.69|139.75; Mumbai|IN|19.02|72.86; Mexico City|MX|19.44|-99.13; Shanghai|CN|31.22|121.44; São Paulo|BR|-23.56|-46.63
New York|US|40.75|-73.98; Karachi|PK|24.87|66.99; Buenos Aires|AR|-34.6|-58.4; Delhi|IN|28.67|77.23; Moscow|RU|55.75|37.62
Istanbul|TR|41.1|29.01; Dhaka|BD|23.72|90.41; Cairo|EG|30.05|31.25; Seoul|KR|37.57|127; Kolkata|IN|22.49|88.32
Beijing|CN|39.93|116.39; Jakarta|ID|-6.17|106.83; Los Angeles|US|33.99|-118.18; London|GB|51.5|-0.12; Tehran|IR|35.67|51.42
Lima|PE|-12.05|-77.05; Manila|PH|14.6|120.98; Bogotá|CO|4.6|-74.08; Osaka|JP|34.75|135.46; Rio de Janeiro|BR|-22.93|-43.23
Kinshasa|CD|-4.33|15.31; Lahore|PK|31.56|74.35; Guangzhou|CN|23.14|113.33; Bengaluru|IN|12.97|77.56; Chicago|US|41.83|-87.75
Bangkok|TH|13.75|100.52; Hong Kong|HK|22.3|114.19; Chennai|IN|13.09|80.28; Wuhan|CN|30.58|114.27; Tianjin|CN|39.13|117.2
Sydney|AU|-33.92|151.19; Chongqing|CN|29.56|106.59; Baghdad|IQ|33.34|44.39; Hyderabad|IN|17.4|78.48; Paris|FR|48.87|2.33
Melbourne|AU|-37.82|144.98; Taipei|TW|25.04|121.57; Lagos|NG|6.44|3.39; Toronto|CA|43.7|-79.42; Ahmedabad|IN|23.03|72.58
Dongguan|CN|23.05|113.74; Ho Chi Minh City|VN|10.78|106.7; Riyadh|SA|24.64|46.77; Shenzhen|CN|22.55|114.12; Singapore|SG|1.29|103.86
Chittagong|BD|22.33|91.8; Shenyang|CN|41.8|123.45; Houston|US|29.82|-95.34; Chengdu|CN|30.67|104.07; Saint Petersburg|RU|59.94|30.32
Alexandria|EG|31.2|29.95; Belo Horizonte|BR|-19.92|-43.92; Pune|IN|18.53|73.85; Yokohama|JP|35.32|139.58; Yangon|MM|16.78|96.17
Xi'an|CN|34.28|108.89; Luanda|AO|-8.84|13.23; Ankara|TR|39.93|32.86; Philadelphia|US|40|-75.17; Abidjan|CI|5.32|-4.04
Busan|KR|35.1|129.01; Harbin|CN|45.75|126.65; Nanjing|CN|32.05|118.78; Surat|IN|21.2|72.84; Khartoum|SD|15.59|32.53
Barcelona|ES|41.38|2.18; Berlin|DE|52.52|13.4; Casablanca|MA|33.6|-7.62; Kabul|AF|34.52|69.18; Kano|NG|12|8.52
Brasília|BR|-15.78|-47.92; Salvador|BR|-12.97|-38.48; Montréal|CA|45.5|-73.58; Dallas|US|32.82|-96.84; Kanpur|IN|26.46|80.32
Miami|US|25.79|-80.22; Fortaleza|BR|-3.75|-38.58; Jeddah|SA|21.52|39.22; Howrah|IN|22.58|88.33; Addis Ababa|ET|9.03|38.7
Guadalajara|MX|20.67|-103.33; Hanoi|VN|21.03|105.85; Pyongyang|KP|39.02|125.75; Santiago|CL|-33.45|-70.67; Nairobi|KE|-1.28|36.82
Changchun|CN|43.87|125.34; Cape Town|ZA|-33.92|18.43; New Taipei|TW|25.01|121.47; Taiyuan|CN|37.88|112.55; Jaipur|IN|26.92|75.81
Dar es Salaam|TZ|-6.8|39.27; Madrid|ES|40.4|-3.68; Quezon City|PH|14.65|121.03; Johannesburg|ZA|-26.17|28.03; Durban|ZA|-29.87|30.98
Nagoya|JP|35.15|136.91; Giza|EG|30.01|31.19; Algiers|DZ|36.76|3.05; Medellín|CO|6.28|-75.58; Porto Alegre|BR|-30.05|-51.2
Surabaya|ID|-7.25|112.75; Dalian|CN|38.92|121.63; Lucknow|IN|26.86|80.91; Recife|BR|-8.08|-34.92; Faisalabad|PK|31.41|73.11
Incheon|KR|37.48|126.64; Dakar|SN|14.72|-17.47; Boston|US|42.33|-71.07; Detroit|US|42.33|-83.08; Damascus|SY|33.5|36.3
Atlanta|US|33.83|-84.4; Daegu|KR|35.87|128.61; İzmir|TR|38.44|27.15; Washington|US|38.9|-77.01; Hangzhou|CN|30.25|120.17
Phoenix|US|33.54|-112.07; Jinan|CN|36.67|117; Monterrey|MX|25.67|-100.33; Guiyang|CN|26.58|106.72; Caracas|VE|10.5|-66.92
Nagpur|IN|21.17|79.09; Changsha|CN|28.2|112.97; Zhengzhou|CN|34.75|113.67; Mashhad|IR|36.27|59.57; Curitiba|BR|-25.42|-49.32
Omdurman|SD|15.62|32.48; Lanzhou|CN|36.06|103.79; Qingdao|CN|36.09|120.33; Guayaquil|EC|-2.22|-79.92; Ibadan|NG|7.38|3.93
Cali|CO|3.4|-76.5; Shijiazhuang|CN|38.05|114.48; Sapporo|JP|43.07|141.34; Kyiv|UA|50.43|30.52; Xiangtan|CN|27.85|112.9
Nanchong|CN|30.78|106.13; Aleppo|SY|36.23|37.17; Kaohsiung|TW|22.63|120.27; Jilin|CN|43.85|126.55; Milan|IT|45.47|9.21
Nanchang|CN|28.68|115.88; Fukuoka|JP|33.6|130.41; San Francisco|US|37.74|-122.46; Havana|CU|23.13|-82.36; Tashkent|UZ|41.31|69.29
Vienna|AT|48.2|16.37; Bandung|ID|-6.95|107.57; Accra|GH|5.55|-0.22; Baku|AZ|40.4|49.86; Athens|GR|37.98|23.73
Kunming|CN|25.07|102.68; Suzhou|CN|33.64|116.98; Bekasi|ID|-6.22|106.97; San Diego|US|32.82|-117.18; Medan|ID|3.58|98.65
Indore|IN|22.72|75.87; Denver|US|39.74|-104.98; Sanaa|YE|15.35|44.21; Campinas|BR|-22.9|-47.1; Fuzhou|CN|26.08|119.3
Patna|IN|25.62|85.13; Zibo|CN|36.8|118.05; Santa Cruz|BO|-17.75|-63.23; Bucharest|RO|44.43|26.1; Taichung|TW|24.15|120.68
Urumqi|CN|43.81|87.58; Seattle|US|47.57|-122.34; Rawalpindi|PK|33.6|73.04; Benoni|ZA|-26.15|28.33; Puebla|MX|19.05|-98.2
Belém|BR|-1.45|-48.48; Frankfurt|DE|50.1|8.68; Beirut|LB|33.87|35.51; Stuttgart|DE|48.78|9.2; Maracaibo|VE|10.73|-71.66
Hamburg|DE|53.55|10; Tel Aviv|IL|32.08|34.77; Tangshan|CN|39.62|118.19; Hefei|CN|31.85|117.28; Warsaw|PL|52.25|21
Minsk|BY|53.9|27.57; Rome|IT|41.9|12.48; Rabat|MA|34.03|-6.84; Wanzhou|CN|30.82|108.4; Budapest|HU|47.5|19.08; Lisbon|PT|38.72|-9.14
Bhopal|IN|23.25|77.41; Xuzhou|CN|34.28|117.18; Sendai|JP|38.29|141.02; Manaus|BR|-3.1|-60; Birmingham|GB|52.47|-1.92
Kyoto|JP|35.03|135.75; Tai'an|CN|36.2|117.12; Douala|CM|4.06|9.71; Naples|IT|40.84|14.25; Port-au-Prince|HT|18.54|-72.34
George Town|MY|5.41|100.33; Wenzhou|CN|28.02|120.65; Haikou|CN|20.05|110.32; Ludhiana|IN|30.93|75.87; Goiânia|BR|-16.72|-49.3
Palembang|ID|-2.98|104.75; Hiroshima|JP|34.39|132.44; Vadodara|IN|22.31|73.18; Isfahan|IR|32.7|51.7; Tunis|TN|36.8|10.18
Valencia|VE|10.23|-67.98; Harare|ZW|-17.82|31.04; Luoyang|CN|34.68|112.47; Quito|EC|-0.21|-78.5; Xiamen|CN|24.45|118.08
Antananarivo|MG|-18.92|47.52; Luzhou|CN|28.88|105.38; Pittsburgh|US|40.43|-80; Kobe|JP|34.68|135.17; Katowice|PL|50.26|19.02
Barranquilla|CO|10.96|-74.8; Agra|IN|27.17|78.02; Handan|CN|36.58|114.48; Conakry|GN|9.53|-13.68; Minneapolis|US|44.98|-93.25
Nanning|CN|22.82|108.32; Multan|PK|30.2|71.46; Santiago|DO|19.5|-70.67; Kumasi|GH|6.69|-1.63; Shantou|CN|23.37|116.67
Phnom Penh|KH|11.55|104.92; Tijuana|MX|32.5|-117.08; Datong|CN|40.08|113.3; Vancouver|CA|49.27|-123.12; Daejeon|KR|36.34|127.43
Gujranwala|PK|32.16|74.19; Kuala Lumpur|MY|3.17|101.7; Khulna|BD|22.84|89.56; San Juan|PR|18.44|-66.13; Liuzhou|CN|24.28|109.25
Fushun|CN|41.87|123.87; Baltimore|US|39.3|-76.62; Wuxi|CN|31.58|120.3; Gwangju|KR|35.17|126.91; Bursa|TR|40.2|29.07
Karaj|IR|35.8|50.97; Hyderabad|PK|25.38|68.37; Anshan|CN|41.12|122.94; Yantai|CN|37.53|121.4; Xinyang|CN|32.13|114.07
Dammam|SA|26.43|50.1; Bamako|ML|12.65|-8; Faridabad|IN|28.43|77.32; Brisbane|AU|-27.46|153.04; Kampala|UG|0.32|32.58
Nashik|IN|20|73.78; Brussels|BE|50.83|4.33; Córdoba|AR|-31.4|-64.18; Kawasaki|JP|35.53|139.71; San Antonio|US|29.49|-98.51
Mecca|SA|21.43|39.82; Ciudad Juárez|MX|31.69|-106.49; Semarang|ID|-6.97|110.42; Kharkiv|UA|50|36.25; Pretoria|ZA|-25.71|28.23
Mannheim|DE|49.5|8.47; Yaoundé|CM|3.87|11.52; Asansol|IN|23.68|86.98; Coimbatore|IN|11|76.95; Ningbo|CN|29.88|121.55
Tampa|US|27.95|-82.46; Tainan|TW|23|120.2; Maputo|MZ|-25.96|32.59; Manchester|GB|53.5|-2.25; Meerut|IN|29|77.7; Davao|PH|7.11|125.63
Tabriz|IR|38.09|46.3; León|MX|21.15|-101.7; Lusaka|ZM|-15.42|28.28; Visakhapatnam|IN|17.73|83.3; Haiphong|VN|20.83|106.68
San Jose|US|37.3|-121.85; Yekaterinburg|RU|56.85|60.6; Ghaziabad|IN|28.66|77.41; Munich|DE|48.13|11.57; Makassar|ID|-5.14|119.43
Qiqihar|CN|47.34|123.99; Peshawar|PK|34.01|71.54; Saint Louis|US|38.64|-90.24; Brazzaville|CG|-4.26|15.28; Stockholm|SE|59.35|18.1
Turin|IT|45.07|7.67; Varanasi|IN|25.33|83; Dubai|AE|25.23|55.28; Hohhot|CN|40.82|111.66; Long Beach|US|33.79|-118.16
Nizhny Novgorod|RU|56.33|44; Adana|TR|36.99|35.32; Shiraz|IR|29.63|52.57; Huainan|CN|32.63|116.98; Baotou|CN|40.65|109.82
Mosul|IQ|36.35|43.15; Maoming|CN|21.92|110.87; Ganzhou|CN|25.92|114.95; Novosibirsk|RU|55.03|82.96; Tripoli|LY|32.89|13.18
Portland|US|45.52|-122.68; Perth|AU|-31.96|115.84; La Paz|BO|-16.5|-68.15; Kaduna|NG|10.52|7.44; Rajkot|IN|22.31|70.8
Linyi|CN|35.08|118.33; Cilacap|ID|-7.72|109.02; Cleveland|US|41.47|-81.69; Mandalay|MM|21.97|96.09; Zaozhuang|CN|34.88|117.57
Essen|DE|51.45|7.02; Jabalpur|IN|23.18|79.96; Amritsar|IN|31.64|74.87; Las Vegas|US|36.21|-115.22; Changzhou|CN|31.78|119.97
Prayagraj|IN|25.45|81.84; Xianyang|CN|34.35|108.71; Lubumbashi|CD|-11.68|27.48; Zhanjiang|CN|21.2|110.38
Indianapolis|US|39.75|-86.17; Fort Lauderdale|US|26.14|-80.14; Madurai|IN|9.92|78.12; Lomé|TG|6.13|1.22; Belgrade|RS|44.82|20.47
Nanyang|CN|33|112.53; Yerevan|AM|40.18|44.51; Marseille|FR|43.29|5.38; Almaty|KZ|43.32|76.92; Rosario|AR|-32.95|-60.67
Fort Worth|US|32.74|-97.34; Doha|QA|25.29|51.53; Omsk|RU|54.99|73.4; Copenhagen|DK|55.68|12.56; Mbuji-Mayi|CD|-6.15|23.6
Changwon|KR|35.22|128.58; Santo Domingo|DO|18.47|-69.9; Suwon|KR|37.26|127.01; Chhatrapati Sambhajinagar|IN|19.9|75.32
Kochi|IN|10.02|76.22; Kuwait City|KW|29.37|47.98; Santos|BR|-23.95|-46.33; Amman|JO|31.95|35.93; Srinagar|IN|34.1|74.82
Tbilisi|GE|41.73|44.79; Baoding|CN|38.87|115.48; Sacramento|US|38.58|-121.47; Warangal|IN|18.01|79.58; Rostov-on-Don|RU|47.23|39.71
Sofia|BG|42.68|23.32; Zhuhai|CN|22.28|113.57; Port Harcourt|NG|4.81|7.01; Chelyabinsk|RU|55.15|61.44; Toluca|MX|19.33|-99.67
Dublin|IE|53.33|-6.25; Kazan|RU|55.75|49.13; Calgary|CA|51.08|-114.08; Ulsan|KR|35.55|129.32; Medina|SA|24.5|39.58
Guatemala City|GT|14.62|-90.53; Solapur|IN|17.67|75.9; Vitória|BR|-20.32|-40.37; Maracay|VE|10.25|-67.6; Neijiang|CN|29.58|105.05
Vijayawada|IN|16.52|80.63; Columbus|US|39.98|-82.99; Maceió|BR|-9.62|-35.73; Maanshan|CN|31.73|118.48; Samara|RU|53.2|50.15
Niterói|BR|-22.9|-43.1; Changde|CN|29.03|111.68; Ouagadougou|BF|12.37|-1.52; Leeds|GB|53.83|-1.58; Adelaide|AU|-34.93|138.6
Kitakyushu|JP|33.87|130.82; Mogadishu|SO|2.07|45.37; Seongnam|KR|37.44|127.14; Huambo|AO|-12.75|15.76; Cologne|DE|50.93|6.95
Milwaukee|US|43.05|-87.92; Fez|MA|34.05|-5; Natal|BR|-6.98|-60.27; Ottawa|CA|45.42|-75.7; Weifang|CN|36.72|119.1
San Bernardino|US|34.12|-117.3; Cincinnati|US|39.16|-84.46; Ufa|RU|54.79|56.04; Shangqiu|CN|34.45|115.65
Barquisimeto|VE|10.05|-69.3; Jodhpur|IN|26.29|73.02; Jamshedpur|IN|22.79|86.2; Seville|ES|37.41|-5.98; Kansas City|US|39.11|-94.6
Mudanjiang|CN|44.58|129.59; The Hague|NL|52.08|4.27; Oakland|US|37.77|-122.22; Sharjah|AE|25.37|55.41; Dnipro|UA|48.48|35
Daqing|CN|46.58|125; Lyon|FR|45.77|4.83; Chandigarh|IN|30.72|76.78; Ranchi|IN|23.37|85.33; Charlotte|US|35.2|-80.83
Da Nang|VN|16.06|108.25; Gaziantep|TR|37.07|37.38; Asunción|PY|-25.3|-57.64; Jiangmen|CN|30.65|113.16; Florence|IT|43.78|11.25
Managua|NI|12.15|-86.27; Austin|US|30.27|-97.74; Jerusalem|IL|31.78|35.21; Monrovia|LR|6.31|-10.8; Tegucigalpa|HN|14.1|-87.22
Kathmandu|NP|27.72|85.32; Amsterdam|NL|52.35|4.92; Edmonton|CA|53.55|-113.5; Dushanbe|TJ|38.56|68.77; Abuja|NG|9.08|7.53
Panama City|PA|8.97|-79.53; Helsinki|FI|60.18|24.93; N'Djamena|TD|12.11|15.05; Niamey|NE|13.52|2.12; Mendoza|AR|-32.88|-68.82
Ulaanbaatar|MN|47.92|106.92; Bishkek|KG|42.87|74.59; Valencia|ES|39.49|-0.4; Kigali|RW|-1.95|30.06; Rotterdam|NL|51.92|4.48
Kingston|JM|17.98|-76.77; Porto|PT|41.15|-8.62; Arequipa|PE|-16.42|-71.53; Djibouti|DJ|11.6|43.15; Auckland|NZ|-36.85|174.76
Montevideo|UY|-34.86|-56.17; Kraków|PL|50.06|19.96; Bangui|CF|4.37|18.56; Albuquerque|US|35.1|-106.64; Zürich|CH|47.38|8.55
Riga|LV|56.95|24.1; San Salvador|SV|13.71|-89.2; Geneva|CH|46.21|6.14; Zagreb|HR|45.8|16; Oslo|NO|59.92|10.75
Nashville|US|36.17|-86.78; Nouakchott|MR|18.09|-15.98; Islamabad|PK|33.7|73.17; Antwerp|BE|51.22|4.42; Sarajevo|BA|43.85|18.38
Vientiane|LA|17.97|102.6; Chișinău|MD|47.01|28.86; Muscat|OM|23.61|58.59; Tirana|AL|41.33|19.82; Ashgabat|TM|37.95|58.38
Lilongwe|MW|-13.98|33.78; San José|CR|9.94|-84.08; Toulouse|FR|43.62|1.45; Liverpool|GB|53.42|-2.92; Bremen|DE|53.08|8.8
Nice|FR|43.72|7.27; Hanover|DE|52.37|9.72; Bilbao|ES|43.25|-2.93; Cardiff|GB|51.5|-3.23; Winnipeg|CA|49.88|-97.17
Gdańsk|PL|54.36|18.64; Asmara|ER|15.33|38.93; Thessaloniki|GR|40.7|22.89; Prague|CZ|50.08|14.47; Abu Dhabi|AE|24.47|54.37
Honolulu|US|21.31|-157.86; Québec|CA|46.84|-71.25; Salt Lake City|US|40.78|-111.93; Dresden|DE|51.05|13.75; Libreville|GA|0.39|9.46
New Orleans|US|30|-90.04; Vilnius|LT|54.68|25.32; Leipzig|DE|51.34|12.41; Gothenburg|SE|57.75|12; Bordeaux|FR|44.85|-0.6
Bristol|GB|51.45|-2.58; Skopje|MK|42|21.43; Edinburgh|GB|55.95|-3.22; Bloemfontein|ZA|-29.12|26.23; Valparaíso|CL|-33.05|-71.62
Gold Coast|AU|-28.08|153.45; Freetown|SL|8.47|-13.23; Bratislava|SK|48.15|17.12; Bissau|GW|11.87|-15.6; Brno|CZ|49.2|16.61
Port Louis|MU|-20.17|57.5; Tallinn|EE|59.43|24.73; Belfast|GB|54.6|-5.96; Manama|BH|26.24|50.58; Bujumbura|BI|-3.38|29.36
New Delhi|IN|28.6|77.2; Wellington|NZ|-41.3|174.78; Christchurch|NZ|-43.54|172.63; Halifax|CA|44.65|-63.6; Ljubljana|SI|46.06|14.51
Canberra|AU|-35.28|149.13; Venice|IT|45.44|12.33; Port Moresby|PG|-9.46|147.19; Porto-Novo|BJ|6.48|2.62; Windhoek|NA|-22.57|17.08
Malmö|SE|55.58|13.03; Reno|US|39.53|-119.82; Anchorage|US|61.22|-149.9; Georgetown|GY|6.8|-58.17; Graz|AT|47.08|15.41
Boise|US|43.61|-116.23; Maseru|LS|-29.32|27.48; Paramaribo|SR|5.84|-55.17; Tampere|FI|61.5|23.75; Sucre|BO|-19.04|-65.26
Colombo|LK|6.93|79.86; Nicosia|CY|35.17|33.37; Yamoussoukro|CI|6.82|-5.28; Bergen|NO|60.39|5.32; Dodoma|TZ|-6.18|35.75
Bern|CH|46.92|7.47; Nassau|BS|25.08|-77.35; Valletta|MT|35.9|14.51; Gaborone|BW|-24.65|25.91; Salzburg|AT|47.81|13.04
Malabo|GQ|3.75|8.78; Geelong|AU|-38.17|144.4; Podgorica|ME|42.47|19.27; Reykjavík|IS|64.15|-21.95; Cairns|AU|-16.89|145.76
Suva|FJ|-18.13|178.44; Townsville|AU|-19.25|146.77; Juba|SS|4.83|31.58; Male|MV|4.17|73.5; Praia|CV|14.92|-23.52
Dunedin|NZ|-45.88|170.48; Luxembourg|LU|49.61|6.13; Thimphu|BT|27.47|89.64; Moroni|KM|-11.7|43.24; Mbabane|SZ|-26.32|31.13
Darwin|AU|-12.43|130.85; Honiara|SB|-9.44|159.95; Hobart|AU|-42.85|147.3; Ushuaia|AR|-54.79|-68.31; Apia|WS|-13.84|-171.74
Banjul|GM|13.45|-16.59; Andorra la Vella|AD|42.5|1.52; Alice Springs|AU|-23.7|133.88; Vaduz|LI|47.13|9.52; Nuuk|GL|64.2|-51.73
Port Pirie|AU|-33.19|137.99; Cusco|PE|-13.53|-71.97; Nuremberg|DE|49.45|11.08
`
