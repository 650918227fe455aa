import type { ColormapSource } from './source.ts'

/** From little to much. */
export const SEQUENTIAL: readonly ColormapSource[] = [
  { id: 'blues', name: 'Blues', stops: '0:f7fbff 65:c4daee 99:99c7e0 132:65aad4 165:3c8cc3 195:1e6db2 224:08509b 255:08306b' },
  { id: 'greens', name: 'Greens', stops: '0:f7fcf5 35:e2f4dd 70:c0e6b9 105:94d390 132:6dc072 161:3fa95c 198:1c8540 224:006c2c 255:00441b' },
  { id: 'greys', name: 'Greys', stops: '0:ffffff 39:ebebeb 73:d1d1d1 100:b8b8b8 140:888888 195:4d4d4d 229:1e1e1e 255:000000' },
  {
    id: 'oranges',
    name: 'Oranges',
    stops: '0:fff5eb 35:fee4ca 66:fdce9e 101:fda863 131:fc8937 161:f06712 192:d84801 227:a13403 255:7f2704',
  },
  { id: 'purples', name: 'Purples', stops: '0:fcfbfd 37:eceaf3 68:d6d6e9 103:b5b5d7 138:9490c3 161:7f7bb9 216:593093 255:3f007d' },
  { id: 'reds', name: 'Reds', stops: '0:fff5f0 34:fedecf 85:fca082 108:fc8262 133:f96245 160:ee3a2c 192:ca181d 224:a30f15 255:67000d' },
  { id: 'bugn', name: 'BuGn', stops: '0:f7fcfd 34:e3f4f8 65:caebe5 102:8fd4c2 130:63c0a0 162:3fab72 192:228a44 224:006c2c 255:00441b' },
  { id: 'bupu', name: 'BuPu', stops: '0:f7fcfd 37:dbe8f2 98:9db9d9 129:8c94c5 179:8a51a5 196:873a98 223:810f7c 255:4d004b' },
  { id: 'gnbu', name: 'GnBu', stops: '0:f7fcf0 60:ceecc8 67:c8eac3 96:a7ddb5 133:73c8c7 160:4db2d3 210:1677b3 224:0867ab 255:084081' },
  { id: 'orrd', name: 'OrRd', stops: '0:fff7ec 39:fee4bf 67:fdd19b 98:fdb881 129:fb8b58 161:ee6246 196:d2291a 224:b20000 255:7f0000' },
  { id: 'pubu', name: 'PuBu', stops: '0:fff7fb 35:e9e5f1 67:cccfe5 102:9cb9d9 130:6fa7ce 163:308cbe 192:056faf 225:04588a 255:023858' },
  { id: 'pubugn', name: 'PuBuGn', stops: '0:fff7fb 35:e9e0ef 67:cccfe5 97:a3bcda 130:63a7ce 160:3590bf 191:02818a 226:016956 255:014636' },
  { id: 'purd', name: 'PuRd', stops: '0:f7f4f9 33:e6e0ee 71:d1b1d6 96:c993c7 129:df62ae 159:e72a8a 191:ce1256 225:950041 255:67001f' },
  { id: 'rdpu', name: 'RdPu', stops: '0:fff7f3 40:fdd9d6 66:fcc2bf 98:fa9bb4 129:f666a1 161:db3196 191:ae017e 234:690173 255:49006a' },
  { id: 'ylgn', name: 'YlGn', stops: '0:ffffe5 33:f6fcb8 67:d5eea1 101:a4d98a 132:70c275 161:3fa95c 193:218242 224:006737 255:004529' },
  { id: 'ylgnbu', name: 'YlGnBu', stops: '0:ffffd9 32:edf8b1 64:c6e9b4 100:76cabc 129:3fb4c4 160:1d90c0 197:2356a4 223:253494 255:081d58' },
  { id: 'ylorbr', name: 'YlOrBr', stops: '0:ffffe5 35:fff5b8 65:fee28e 97:fec24d 130:fd9627 162:e96d13 193:c94b02 227:933204 255:662506' },
  { id: 'ylorrd', name: 'YlOrRd', stops: '0:ffffcc 64:fed976 97:feb04b 128:fd8c3c 161:fb4b29 192:e2191c 224:bb0026 255:800026' },
  { id: 'gray', name: 'Gray', stops: '0:000000 255:ffffff' },
  { id: 'bone', name: 'Bone', stops: '0:000000 96:545574 192:a9c8c8 255:ffffff' },
  { id: 'copper', name: 'Copper', stops: '0:000000 207:ffa267 255:ffc77f' },
  {
    id: 'pink',
    name: 'Pink',
    stops:
      '0:1e0000 4:321a1a 11:482b2b 24:664040 48:8d5a5a 80:b47575 94:c27f7e 118:cca08e 147:d8c09e 188:e8e7b3 198:ebebbe ' +
      '230:f7f7e5 255:ffffff',
  },
  { id: 'hot', name: 'Hot', stops: '0:0b0000 93:ff0000 190:fffe00 255:ffffff' },
  { id: 'afmhot', name: 'AFM hot', stops: '0:000000 64:800000 128:ff8001 191:fffe7f 255:ffffff' },
  { id: 'gist_heat', name: 'Heat', stops: '0:000000 128:c00100 170:ff5500 191:ff7f00 255:ffffff' },
  { id: 'spring', name: 'Spring', stops: '0:ff00ff 255:ffff00' },
  { id: 'summer', name: 'Summer', stops: '0:008066 255:ffff66' },
  { id: 'autumn', name: 'Autumn', stops: '0:ff0000 255:ffff00' },
  { id: 'winter', name: 'Winter', stops: '0:0000ff 255:00ff80' },
  { id: 'cool', name: 'Cool', stops: '0:00ffff 255:ff00ff' },
  { id: 'wistia', name: 'Wistia', stops: '0:e4ff7a 65:ffe719 130:ffbc00 225:fd8f00 255:fc7f00' },
  {
    id: 'jet',
    name: 'Jet',
    stops:
      '0:000080 28:0000ff 32:0000ff 87:00dcfe 90:02e8f4 96:16ffe1 163:eeff09 166:f8f500 169:ffea00 227:ff1300 232:e80000 ' + '255:800000',
  },
  {
    id: 'rainbow',
    name: 'Rainbow',
    stops:
      '0:8000ff 30:445cfb 51:1996f3 64:00b5eb 80:20d5e1 97:42edd3 111:5efac6 126:7dffb6 140:99fca6 155:b6f193 172:d9da7d ' +
      '189:fbb965 193:ffb05f 212:ff8143 243:ff2613 255:ff0000',
  },
  {
    id: 'hsv',
    name: 'Hue',
    stops:
      '0:ff0000 40:ffec00 44:f8fd00 47:e8ff00 85:08ff00 89:00ff10 129:00fffc 130:00fcff 170:0010ff 174:0800ff 214:f400ff ' +
      '217:fc00f5 220:ff00e7 255:ff0018',
  },
  {
    id: 'nipy_spectral',
    name: 'Full spectrum',
    stops:
      '0:000000 12:700080 13:770088 25:870098 26:83009a 38:0300aa 39:0000ad 51:0000dd 64:0078dd 76:0098dd 80:009ecf 90:00aaa8 ' +
      '102:00aa88 114:009a08 115:009a00 153:00ff00 165:b0ff00 166:bcff00 179:efed00 192:ffc900 204:ff9900 216:ff0900 ' +
      '217:fe0000 230:dc0000 242:cc0000 243:cc0c0c 255:cccccc',
  },
  { id: 'gnuplot2', name: 'Gnuplot 2', stops: '0:000000 64:0100ff 107:8700ff 145:fe4cb3 234:fffe01 235:ffff05 255:ffffff' },
  {
    id: 'cmrmap',
    name: 'CMRmap',
    stops: '0:000000 32:262680 64:4d26bf 97:9d347c 127:fd4028 129:fe4324 160:e68100 191:e6bf19 224:e6e683 255:ffffff',
  },
  {
    id: 'ndvi',
    name: 'Vegetation',
    stops: '0:5b4a3a 51:a58d6f 64:ceb893 89:ece3b4 115:cfe08a 153:8fc25a 191:4c9a3d 223:1f7030 255:05401f',
  },
  { id: 'moisture', name: 'Moisture', stops: '0:7f4f1d 64:d3a35c 115:f2e6c4 140:d6ecef 191:66b2d1 255:0b4f8a' },
  { id: 'thermal', name: 'Thermal', stops: '0:04062b 51:2b1a7a 102:8a1f8c 153:e0473f 204:f9a13a 255:fdf6c1' },
  { id: 'burn', name: 'Burn severity', stops: '0:1a6b34 64:7dbb5b 102:e6e8a0 140:f6c244 191:e8702a 230:b3201f 255:5c0a2c' },
]
