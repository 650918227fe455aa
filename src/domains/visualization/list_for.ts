import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { Choice, Closed, Defaulted, FreeForm, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { listVisualizations, type RenderParams } from '#raster/formulas/visualizations.ts'

const Spec = Closed(
  {
    id: Type.String(),
    label: Type.String(),
    kind: Choice(['rgb', 'index', 'elevation', 'raw']),
    asset: Nullable(Type.String()),
    bands: Nullable(Type.Array(Type.Integer())),
    expression: Nullable(Type.String()),
    colormap: Nullable(Type.String()),
    rescale: Nullable(Type.String()),
    is_default: Type.Boolean(),
    category: Nullable(Type.String()),
    description: Type.String(),
  },
  { $id: 'Visualization' },
)

/** The ways to show bands with these roles, best first, and the one to start with. A DEM has one: its elevation. */
export default operation({
  id: 'visualization.list_for',
  scope: 'tiles:read',
  tier: 'read',
  input: Closed({
    band_roles: Type.Optional(Type.Record(Type.String({ maxLength: 100 }), Type.Integer({ minimum: 1, maximum: 64 }))),
    data_type: Defaulted(Type.String({ maxLength: 100 }), 'raster'),
    render_params: Type.Optional(FreeForm),
    asset: Type.Optional(Nullable(Type.String({ maxLength: 200 }))),
  }),
  output: Closed({ visualizations: Type.Array(Spec), default_id: Nullable(Type.String()) }),
  example: {
    input: { band_roles: { RED: 3, GREEN: 2, BLUE: 1 } },
    output: {
      visualizations: [
        {
          id: 'rgb',
          label: 'Natural colour',
          kind: 'rgb',
          asset: null,
          bands: [3, 2, 1],
          expression: null,
          colormap: null,
          rescale: null,
          is_default: true,
          category: 'composite',
          description: 'As the eye would see it',
        },
      ],
      default_id: 'rgb',
    },
  },
}).handle({
  async execute(_context, { band_roles = {}, data_type, render_params = {}, asset = null }) {
    if (Object.keys(band_roles).length > 64) throw invalidField('band_roles', 'has more than 64 entries')
    const { visualizations, default_id } = listVisualizations({
      bandRoles: band_roles,
      dataType: data_type,
      renderParams: readParams(render_params),
    })
    return {
      visualizations: visualizations.map((found) => ({ ...found, asset, kind: found.kind === 'single' ? ('raw' as const) : found.kind })),
      default_id,
    }
  },
})

/** A registry may say more than we use; what we use must be of the right type. */
function readParams(params: Record<string, unknown>): RenderParams {
  const text = (name: string) => (typeof params[name] === 'string' ? { [name]: params[name] } : {})
  const scale = typeof params['reflectance_scale'] === 'number' ? { reflectance_scale: params['reflectance_scale'] } : {}
  return { ...text('default_id'), ...text('rescale'), ...text('colormap'), ...scale }
}
