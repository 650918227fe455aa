import Type, { type Static } from 'typebox'
import { Closed, Described, NotBlank, Nullable, Timestamp } from '#core/shapes.ts'
import type { BandFormula } from '#model/imagery/band-formula.ts'
import type { Formula } from '#raster/formulas/index.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'

const text = (description: string) => Nullable(Type.String({ description }))

export const FormulaId = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'Formula ID, or the name of a built-in formula such as `ndvi`',
})
export const FormulaName = NotBlank(50, { minLength: 2, description: 'Formula name, unique in the organization' })
export const FormulaText = Type.String({
  minLength: 3,
  maxLength: 1_000,
  description: 'Band math over band roles (`RED`, `NIR`, `SWIR1`, …) or band numbers (`b1`, `b2`, …)',
})
export const DisplayName = Nullable(NotBlank(200, { description: 'Display name of the formula' }))
export const Description = Nullable(Type.String({ maxLength: 2_000, description: 'Description of the formula' }))
export const ColormapName = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'Colormap name from `cog.colormaps`',
})
export const ValueRange = Type.Array(Type.Number(), {
  minItems: 2,
  maxItems: 2,
  description: 'Values of the first and last colour',
})
export const Category = NotBlank(50, { description: 'Formula category' })

export const FormulaRecord = Closed(
  {
    id: Type.String({ description: 'Formula ID; the name for a built-in formula' }),
    organization_id: Nullable(Type.String({ description: 'Organization ID; null for a built-in formula' })),
    name: Type.String({ description: 'Formula name' }),
    display_name: text('Display name of the formula'),
    formula: Type.String({ description: 'Band math over band roles or numbers' }),
    expression: Type.String({ description: 'Same as `formula`' }),
    description: text('Description of the formula'),
    reference: text('Publication the formula is from; null for a saved formula'),
    required_bands: Type.Array(Type.String(), { description: 'Band roles and bands the formula reads' }),
    band_roles: Type.Array(Type.String(), { description: 'Same as `required_bands`' }),
    colormap: Type.String({ description: 'Default colormap name' }),
    value_range: Type.Array(Type.Number(), { description: 'Values of the first and last colour' }),
    rescale: Type.String({ description: 'Value range of the colours as `min,max`' }),
    category: Type.String({ description: 'Formula category' }),
    is_template: Type.Boolean({ description: 'Whether the formula is built-in and read-only' }),
    is_builtin: Type.Boolean({ description: 'Same as `is_template`' }),
    created_at: Nullable(Described(Timestamp, 'Creation time; null for a built-in formula')),
    updated_at: Nullable(Described(Timestamp, 'Time of the last change; null for a built-in formula')),
  },
  { $id: 'BandFormula', description: 'A band formula' },
)
type FormulaRecord = Static<typeof FormulaRecord>

interface FormulaFields extends Pick<
  FormulaRecord,
  'id' | 'organization_id' | 'name' | 'display_name' | 'formula' | 'description' | 'reference'
> {
  bands: readonly string[]
  colormap: string
  range: readonly [number, number]
  category: string
}

const recordOf = ({ bands, range, ...rest }: FormulaFields, times: { createdAt: Date; updatedAt: Date } | null): FormulaRecord => ({
  ...rest,
  expression: rest.formula,
  required_bands: [...bands],
  band_roles: [...bands],
  value_range: [...range],
  rescale: range.join(','),
  is_template: times === null,
  is_builtin: times === null,
  created_at: times?.createdAt.toISOString() ?? null,
  updated_at: times?.updatedAt.toISOString() ?? null,
})

export const toRecord = (saved: BandFormula): FormulaRecord =>
  recordOf(
    {
      id: saved.id,
      organization_id: saved.organizationId,
      name: saved.name,
      display_name: saved.displayName,
      formula: saved.formula,
      description: saved.description,
      reference: null,
      bands: saved.requiredBands,
      colormap: saved.colormap,
      range: [saved.rangeLow, saved.rangeHigh],
      category: saved.category,
    },
    saved,
  )

export const toTemplate = ({ id, name, expression, roles, colormap, range, category, reference }: Formula): FormulaRecord =>
  recordOf(
    {
      id,
      organization_id: null,
      name: id,
      display_name: name,
      formula: expression,
      description: null,
      reference,
      bands: roles,
      colormap,
      range,
      category,
    },
    null,
  )

const EXAMPLE_ID = '0199f2c6-5555-7abc-8def-0123456789ab'
export const EXAMPLE_FORMULA: FormulaRecord = {
  id: EXAMPLE_ID,
  organization_id: EXAMPLE_IDS.organization,
  name: 'vigour',
  display_name: 'Crop vigour',
  formula: '(NIR - REDEDGE1) / (NIR + REDEDGE1)',
  expression: '(NIR - REDEDGE1) / (NIR + REDEDGE1)',
  description: 'Nitrogen status of wheat from stem elongation on',
  reference: null,
  required_bands: ['REDEDGE1', 'NIR'],
  band_roles: ['REDEDGE1', 'NIR'],
  colormap: 'rdylgn',
  value_range: [-0.1, 0.7],
  rescale: '-0.1,0.7',
  category: 'custom',
  is_template: false,
  is_builtin: false,
  created_at: EXAMPLE_AT,
  updated_at: EXAMPLE_AT,
}
