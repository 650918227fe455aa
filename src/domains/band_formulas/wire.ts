import Type, { type Static } from 'typebox'
import { Closed, NotBlank, Nullable, Timestamp } from '#core/shapes.ts'
import type { BandFormula } from '#model/imagery/band-formula.ts'
import type { Formula } from '#raster/formulas/index.ts'
import { EXAMPLE_AT, EXAMPLE_IDS } from '#wire/examples.ts'

const text = (description: string) => Nullable(Type.String({ description }))

export const FormulaId = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'Id of a saved formula, or the name of a built-in one such as ndvi',
})
export const FormulaName = NotBlank(50, { minLength: 2, description: 'Short name, unique in the organization' })
export const FormulaText = Type.String({
  minLength: 3,
  maxLength: 1_000,
  description: 'Band math over roles (RED, NIR, SWIR1, …) or band numbers (b1, b2, …)',
})
export const DisplayName = Nullable(NotBlank(200, { description: 'Name as people read it' }))
export const Description = Nullable(Type.String({ maxLength: 2_000, description: 'What it shows and when to use it' }))
export const ColormapName = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'Colours that values are shown in; see cog.colormaps',
})
export const ValueRange = Type.Array(Type.Number(), {
  minItems: 2,
  maxItems: 2,
  description: 'Values that get the first and the last colour',
})
export const Category = NotBlank(50, { description: 'Group it is listed in' })

export const FormulaRecord = Closed(
  {
    id: Type.String({ description: 'Of a built-in formula its name' }),
    organization_id: Nullable(Type.String({ description: 'Who saved it; null for a built-in one' })),
    name: Type.String({ description: 'Short name' }),
    display_name: text('Name as people read it'),
    formula: Type.String({ description: 'Band math over roles or band numbers' }),
    expression: Type.String({ description: 'The same as formula' }),
    description: text('What it shows and when to use it'),
    reference: text('Who published it, and when; null for a saved one'),
    required_bands: Type.Array(Type.String(), { description: 'Roles and bands that it reads' }),
    band_roles: Type.Array(Type.String(), { description: 'The same as required_bands' }),
    colormap: Type.String({ description: 'Colours that values are shown in' }),
    value_range: Type.Array(Type.Number(), { description: 'Values that get the first and the last colour' }),
    rescale: Type.String({ description: 'The same range as `min,max`' }),
    category: Type.String({ description: 'Group it is listed in' }),
    is_template: Type.Boolean({ description: 'True for a built-in formula, which nobody can change' }),
    is_builtin: Type.Boolean({ description: 'The same as is_template' }),
    created_at: Nullable(Type.With(Timestamp, { description: 'When it was saved; null for a built-in one' })),
    updated_at: Nullable(Type.With(Timestamp, { description: 'When it was last changed; null for a built-in one' })),
  },
  { $id: 'BandFormula' },
)
type FormulaRecord = Static<typeof FormulaRecord>

interface Given extends Pick<FormulaRecord, 'id' | 'organization_id' | 'name' | 'display_name' | 'formula' | 'description' | 'reference'> {
  bands: readonly string[]
  colormap: string
  range: readonly [number, number]
  category: string
}

const recordOf = ({ bands, range, ...rest }: Given, times: { createdAt: Date; updatedAt: Date } | null): FormulaRecord => ({
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
