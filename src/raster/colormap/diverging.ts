import type { ColormapSource } from './source.ts'

/** For values that deviate from a centre in two directions. */
export const DIVERGING: readonly ColormapSource[] = [
  { id: 'piyg', name: 'PiYG' },
  { id: 'prgn', name: 'PRGn' },
  { id: 'brbg', name: 'BrBG' },
  { id: 'puor', name: 'PuOr' },
  { id: 'rdgy', name: 'RdGy' },
  { id: 'rdbu', name: 'RdBu' },
  { id: 'rdylbu', name: 'RdYlBu' },
  { id: 'rdylgn', name: 'RdYlGn' },
  { id: 'spectral', name: 'Spectral' },
  { id: 'coolwarm', name: 'Coolwarm' },
  { id: 'bwr', name: 'Blue white red' },
  { id: 'seismic', name: 'Seismic' },
  { id: 'change', name: 'Loss and gain', stops: '0:8c1d18 64:d9705a 115:f3d9cf 127:f5f5f5 140:cfe5ea 191:4f9db5 255:0b4a66' },
]
