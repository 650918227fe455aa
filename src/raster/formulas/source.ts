/** The definition of a spectral index. */
export interface FormulaSource {
  id: string
  name: string
  /** In our band-math grammar, over band roles. */
  expression: string
  /** The typical range of values, used as the default rescale. */
  range: readonly [number, number]
  colormap: string
  /** Author and year of publication. */
  reference: string
  /** True if constants in the expression assume reflectances from 0 to 1, so that integers must be scaled. */
  reflectance?: boolean
}
