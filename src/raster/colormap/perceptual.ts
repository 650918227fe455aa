import type { ColormapSource } from './source.ts'

/** Even steps in the data look like even steps in the picture; turbo and cubehelix come close, the twilights wrap around. */
export const PERCEPTUAL: readonly ColormapSource[] = [
  {
    id: 'viridis',
    name: 'Viridis',
    stops:
      '0:440154 20:481d6f 35:46307e 58:3e4c8a 94:2d718e 132:1f948c 147:1fa287 162:2ab07f 179:44bf70 198:6ccd5a 223:aadc32 ' +
      '237:d0e11c 244:e2e418 253:f8e621 255:fde725',
  },
  {
    id: 'magma',
    name: 'Magma',
    stops:
      '0:000004 7:03030f 20:0e0b2b 37:241253 48:36106b 58:471078 75:621980 104:902a81 131:bc3978 151:db476a 168:ef5d5e ' +
      '182:f8765c 196:fc9065 216:feb67c 244:fde9aa 255:fcfdbf',
  },
  {
    id: 'inferno',
    name: 'Inferno',
    stops:
      '0:000004 7:030210 22:120a32 35:260c51 45:380962 58:4d0d6c 81:721a6e 105:982766 128:bc3754 151:da4e3c 172:ef6c23 ' +
      '193:fa9008 199:fb9b06 206:fca80d 217:fbbe23 229:f6d543 238:f2e661 246:f2f482 254:fafda1 255:fcffa4',
  },
  {
    id: 'plasma',
    name: 'Plasma',
    stops:
      '0:0d0887 8:220690 31:4b03a1 52:6c00a8 68:8405a7 88:a01a9c 122:c6417d 161:e76e5b 193:f9973f 221:fec029 237:fada24 ' +
      '251:f2f227 254:f0f724 255:f0f921',
  },
  {
    id: 'cividis',
    name: 'Cividis',
    stops:
      '0:00224e 20:003070 23:013271 28:123570 39:263d6e 60:3f4c6c 97:62656f 134:828079 171:a69c74 204:c8b866 229:e4ce53 ' +
      '246:f7de3e 251:fde334 255:fee838',
  },
  {
    id: 'turbo',
    name: 'Turbo',
    stops:
      '0:30123b 8:392a73 16:4040a2 24:4456c7 31:4669e0 38:477bf2 44:458afc 50:4099ff 58:33adf7 66:25c0e7 74:1ad2d2 82:18e0bd ' +
      '89:20eaac 98:38f491 113:71fe5f 123:96fe44 132:affa37 141:c6f034 155:e5d938 166:f6c33a 176:fdac34 188:fd8a26 202:f26014 ' +
      '213:e4450a 228:c82803 243:a11201 255:7a0403',
  },
  {
    id: 'cubehelix',
    name: 'Cubehelix',
    stops:
      '0:000000 11:100713 22:191129 35:1a2240 48:17374d 60:154d4e 71:195e47 82:266c3c 93:3c7632 105:5d7a2f 114:787b34 ' +
      '123:937a40 133:ae7956 144:c57a76 154:d17f96 165:d589b8 177:d09ad7 187:caabe8 198:c3bff2 210:c2d4f3 221:c8e4f0 ' +
      '233:d7f1ef 243:e9f8f2 253:fbfefc 255:ffffff',
  },
  {
    id: 'twilight',
    name: 'Twilight',
    stops:
      '0:e2d9e2 7:d8d8de 14:c8d0d6 27:a1bdc9 40:80a5c3 42:7ca2c2 54:698abf 68:606cb8 81:5e4dab 91:5c359a 98:58268a 104:511a75 ' +
      '106:4f1970 113:421257 114:411256 117:3c114b 125:32123a 128:301437 134:381139 143:4a1342 158:711d4f 170:8e2c50 ' +
      '184:a84750 197:b96456 208:c37f64 216:c89275 227:cfad96 228:cfae97 231:d1b6a3 243:dccecb 249:e0d6da 255:e2d9e2',
  },
  {
    id: 'twilight_shifted',
    name: 'Twilight shifted',
    stops:
      '0:301437 6:361142 14:421257 24:521c79 34:5b3095 42:5e43a5 54:5f60b4 67:647dbc 77:6e92c0 90:86aac4 99:9ebbc9 111:c2ced4 ' +
      '118:d4d6dc 127:e2d9e2 134:dfd5d8 142:d9c9c2 148:d4beaf 151:d1b6a3 163:ca9a7d 174:c37f64 186:b86255 198:a84750 ' +
      '214:8a2950 226:6c1b4e 243:41123d 251:341238 255:2f1436',
  },
]
