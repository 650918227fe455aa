import type { ColormapSource } from './source.ts'

/** Perceptually uniform: equal steps in the data look equal. Turbo and cubehelix come close; the twilights are cyclic. */
export const PERCEPTUAL: readonly ColormapSource[] = [
  { id: 'viridis', name: 'Viridis' },
  { id: 'magma', name: 'Magma' },
  { id: 'inferno', name: 'Inferno' },
  { id: 'plasma', name: 'Plasma' },
  { id: 'cividis', name: 'Cividis' },
  { id: 'turbo', name: 'Turbo' },
  { id: 'cubehelix', name: 'Cubehelix' },
  { id: 'twilight', name: 'Twilight' },
  { id: 'twilight_shifted', name: 'Twilight shifted' },
]
