import type { ColormapSource } from './source.ts'

/** For heights and depths. */
export const ELEVATION: readonly ColormapSource[] = [
  { id: 'terrain', name: 'Terrain' },
  { id: 'gist_earth', name: 'Earth' },
  { id: 'ocean', name: 'Ocean' },
  {
    id: 'hypsometric',
    name: 'Hypsometric tints',
    stops: '0:1f6b3c 38:4f9a4e 77:b3cf7a 115:f0e6a2 153:dcb46a 191:b0794a 223:8f6a62 240:cfc4c0 255:ffffff',
  },
  { id: 'bathymetry', name: 'Bathymetry', stops: '0:041030 51:0a2a5e 102:13508f 153:2f80b8 204:74b7d6 240:bfe2ea 255:e8f6f4' },
  {
    id: 'topobathy',
    name: 'Sea floor to summit',
    stops: '0:06143a 64:12508f 115:7cc0dc 127:d5eff2 128:2e7d46 160:a9c873 191:e9d68f 217:b98552 238:8d6d66 255:ffffff',
  },
  { id: 'relief', name: 'Muted relief', stops: '0:8fa38a 64:c3c9a0 128:e6dcb8 191:cdae8e 230:b9a49b 255:f7f4f1' },
]
