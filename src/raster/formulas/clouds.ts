import type { FormulaSource } from './source.ts'

/** Clouds and their shadows. */
export const CLOUDS: readonly FormulaSource[] = [
  {
    id: 'ci1swir',
    name: 'Cloud Index 1 With Shortwave Infrared',
    expression: '(NIR + 2 * SWIR1) / (BLUE + GREEN + RED)',
    range: [0, 8],
    colormap: 'gray_r',
    reference: 'Zhai et al. 2018',
  },
  {
    id: 'ci1',
    name: 'Cloud Index 1',
    expression: '3 * NIR / (BLUE + GREEN + RED)',
    range: [0, 10],
    colormap: 'gray_r',
    reference: 'Zhai et al. 2018',
  },
  {
    id: 'ci2swir',
    name: 'Cloud Index 2 With Shortwave Infrared',
    expression: '(BLUE + GREEN + RED + NIR + SWIR1 + SWIR2) / 6',
    range: [0, 0.7],
    colormap: 'gray',
    reference: 'Zhai et al. 2018',
    reflectance: true,
  },
  {
    id: 'ci2',
    name: 'Cloud Index 2',
    expression: '(BLUE + GREEN + RED + NIR) / 4',
    range: [0, 0.7],
    colormap: 'gray',
    reference: 'Zhai et al. 2018',
    reflectance: true,
  },
  {
    id: 'csiswir',
    name: 'Cloud Shadow Index With Shortwave Infrared',
    expression: '(NIR + SWIR1) / 2',
    range: [0, 0.5],
    colormap: 'gray',
    reference: 'Zhai et al. 2018',
    reflectance: true,
  },
]
