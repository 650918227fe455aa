import type { FormulaSource } from './source.ts'

/** Further radar indices from polarizations, in linear power. */
export const POLARIMETRY: readonly FormulaSource[] = [
  {
    id: 'dpdd',
    name: 'Dual-Pol Diagonal Distance',
    expression: '(VV + VH) / sqrt(2)',
    range: [0, 0.4],
    colormap: 'viridis',
    reference: 'Periasamy 2018',
  },
  {
    id: 'qprvi',
    name: 'Quad-Polarized Radar Vegetation Index',
    expression: '8 * HV / (HH + VV + 2 * HV)',
    range: [0, 1.2],
    colormap: 'ylgn',
    reference: 'Kim and van Zyl 2001',
  },
  {
    id: 'vhvvr',
    name: 'VH to VV Ratio',
    expression: 'VH / VV',
    range: [0, 0.6],
    colormap: 'viridis',
    reference: 'Alvarez-Mozos et al. 2021',
  },
  {
    id: 'vhvvp',
    name: 'VH and VV Product',
    expression: 'VH * VV',
    range: [0, 0.02],
    colormap: 'viridis',
    reference: 'Alvarez-Mozos et al. 2021',
  },
  {
    id: 'vvvhd',
    name: 'VV Minus VH',
    expression: 'VV - VH',
    range: [0, 0.3],
    colormap: 'viridis',
    reference: 'Alvarez-Mozos et al. 2021',
  },
  {
    id: 'vvvhs',
    name: 'VV Plus VH',
    expression: 'VV + VH',
    range: [0, 0.5],
    colormap: 'viridis',
    reference: 'Alvarez-Mozos et al. 2021',
  },
]
