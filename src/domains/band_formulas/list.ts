import Type from 'typebox'
import { Closed, Defaulted, Nullable } from '#core/shapes.ts'
import * as bandFormulas from '#model/imagery/band-formula.ts'
import { operation } from '#operation.ts'
import { formulas } from '#raster/formulas/index.ts'
import { EXAMPLE_FORMULA, FormulaRecord, toRecord, toTemplate } from './wire.ts'

/** The formulas saved by the organization, then the built-in ones. */
export default operation({
  id: 'band_formulas.list',
  scope: 'band_formulas:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    category: Type.Optional(
      Nullable(Type.String({ maxLength: 50, description: 'Only formulas of this category, such as `vegetation` or `custom`' })),
    ),
    include_templates: Defaulted(Type.Boolean(), true, { description: 'Whether to include built-in formulas' }),
  }),
  output: Closed({
    formulas: Type.Array(FormulaRecord, { description: 'Saved formulas by name, then built-in formulas by category' }),
    total: Type.Integer({ description: 'Total number of matching results' }),
  }),
  example: { input: { category: 'custom' }, output: { formulas: [EXAMPLE_FORMULA], total: 1 } },
}).handle({
  async execute({ db, principal }, { category = null, include_templates }) {
    const saved = principal.organizationId ? await bandFormulas.list(db, principal.organizationId, category) : []
    const templates = include_templates ? formulas().filter((formula) => category === null || formula.category === category) : []
    const all = [...saved.map(toRecord), ...templates.map(toTemplate)]
    return { formulas: all, total: all.length }
  },
})
