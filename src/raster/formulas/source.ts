/** A spectral index as it is written down. */
export interface FormulaSource {
  id: string
  name: string
  /** In our band-math grammar, over band roles. */
  expression: string
  /** Values worth showing, used as the default rescale. */
  range: readonly [number, number]
  colormap: string
  /** Who published it, and when. */
  reference: string
  /** True where constants in the expression assume reflectances from 0 to 1, so that scaled integers need their scale. */
  reflectance?: boolean
}
