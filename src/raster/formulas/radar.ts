import type { FormulaSource } from './source.ts'

/** Backscatter in linear units. */
export const RADAR: readonly FormulaSource[] = [
  {
    id: 'rvi',
    name: 'Dual-Polarized Radar Vegetation Index',
    expression: '4 * VH / (VV + VH)',
    range: [0, 2],
    colormap: 'ylgn',
    reference: 'Nasirzadehdizaji et al. 2019',
  },
  {
    id: 'rvihh',
    name: 'Dual-Polarized Radar Vegetation Index HH',
    expression: '4 * HV / (HH + HV)',
    range: [0, 2],
    colormap: 'ylgn',
    reference: 'Nasirzadehdizaji et al. 2019',
  },
  {
    id: 'rfdi',
    name: 'Radar Forest Degradation Index',
    expression: '(HH - HV) / (HH + HV)',
    range: [0, 1],
    colormap: 'ylorbr',
    reference: 'Mitchard et al. 2012',
  },
  {
    id: 'vvvhr',
    name: 'VV to VH Ratio',
    expression: 'VV / VH',
    range: [0, 12],
    colormap: 'viridis',
    reference: 'Alvarez-Mozos et al. 2021',
  },
  {
    id: 'ndpoli',
    name: 'Normalized Difference Polarization Index',
    expression: '(VV - VH) / (VV + VH)',
    range: [0, 1],
    colormap: 'viridis',
    reference: 'Mitchard et al. 2012',
  },
  {
    id: 'vddpi',
    name: 'Vertical Dual De-Polarization Index',
    expression: '(VV + VH) / VV',
    range: [1, 2],
    colormap: 'viridis',
    reference: 'Periasamy 2018',
  },
]
