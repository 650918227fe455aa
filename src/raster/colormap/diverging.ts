import type { ColormapSource } from './source.ts'

/** Two directions from a middle. */
export const DIVERGING: readonly ColormapSource[] = [
  {
    id: 'piyg',
    name: 'PiYG',
    stops: '0:8e0152 25:c41a7c 51:de77ae 77:f1b7da 104:fde2f0 128:f7f7f6 153:e6f5d0 180:b5df82 204:7fbc41 230:4c9121 255:276419',
  },
  {
    id: 'prgn',
    name: 'PRGn',
    stops: '0:40004b 26:772b84 52:9b72ac 78:c4a8d0 103:e8d5e9 127:f7f6f7 153:d9f0d3 179:a5da9f 205:58ac5f 230:1a7736 255:00441b',
  },
  {
    id: 'brbg',
    name: 'BrBG',
    stops: '0:543005 26:8d520b 51:bf812d 77:dfc37e 103:f6e9c5 128:f4f5f5 154:c4e9e4 179:7fccc0 205:33958d 230:01655d 255:003c30',
  },
  {
    id: 'puor',
    name: 'PuOr',
    stops: '0:7f3b08 28:b75c07 51:e08214 77:fdb965 103:fee1b9 127:f7f7f6 154:d7d8ea 181:ada6ce 205:7e70ab 230:532687 255:2d004b',
  },
  {
    id: 'rdgy',
    name: 'RdGy',
    stops:
      '0:67001f 26:b3192c 52:d7634f 78:f5a886 103:fddcc9 127:fffefe 141:efefef 162:d3d3d3 181:b5b5b5 213:737373 234:444444 ' + '255:1a1a1a',
  },
  {
    id: 'rdbu',
    name: 'RdBu',
    stops: '0:67001f 26:b3192c 52:d7634f 78:f5a886 103:fddcc9 128:f6f7f7 154:cfe4ef 180:8dc2dc 204:4393c3 230:2065ab 255:053061',
  },
  {
    id: 'rdylbu',
    name: 'RdYlBu',
    stops: '0:a50026 26:d83128 53:f57245 77:fdaf62 103:fee192 128:feffc0 153:e0f3f8 179:aad8e9 206:70a9cf 230:4574b3 255:313695',
  },
  {
    id: 'rdylgn',
    name: 'RdYlGn',
    stops:
      '0:a50026 26:d83128 53:f57245 78:fdb163 103:fee18d 127:fffebe 130:fbfdba 155:d5ed88 179:a5d86a 206:60ba62 230:199750 ' + '255:006837',
  },
  {
    id: 'spectral',
    name: 'Spectral',
    stops:
      '0:9e0142 26:d63f4f 51:f46d43 78:fdb163 103:fee18d 127:fffebe 135:f8fcb4 154:e4f498 181:a4daa4 205:64c0a6 229:3389bd ' +
      '236:3d79b6 255:5e4fa2',
  },
  {
    id: 'coolwarm',
    name: 'Coolwarm',
    stops:
      '0:3b4cc0 22:5572df 42:6f92f3 63:8caffe 83:a7c5fe 104:c3d5f4 123:d8dce2 131:e0dbd8 148:efcfbf 167:f7bca1 190:f59c7d ' +
      '211:e9785d 232:d44e41 245:c32e31 248:be242e 255:b40426',
  },
  { id: 'bwr', name: 'Blue white red', stops: '0:0000ff 127:fefeff 130:fffafa 255:ff0000' },
  { id: 'seismic', name: 'Seismic', stops: '0:00004c 64:0101ff 127:fdfdff 128:fffdfd 191:ff0101 255:800000' },
  { id: 'change', name: 'Loss and gain', stops: '0:8c1d18 64:d9705a 115:f3d9cf 127:f5f5f5 140:cfe5ea 191:4f9db5 255:0b4a66' },
]
