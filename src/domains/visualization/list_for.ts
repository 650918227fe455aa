import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { Choice, Closed, Defaulted, Described, FreeForm, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { listVisualizations, type RenderParams } from '#raster/formulas/visualizations.ts'

const Spec = Closed(
  {
    id: Type.String({ description: 'Visualization ID' }),
    label: Type.String({ description: 'Visualization label' }),
    kind: Choice(['rgb', 'index', 'elevation', 'raw'], { description: 'Visualization kind' }),
    asset: Described(Nullable(Type.String()), 'Asset key; null for the default asset'),
    bands: Described(Nullable(Type.Array(Type.Integer())), '1-based band numbers; null for an expression'),
    expression: Described(Nullable(Type.String()), 'Band math expression; null for a band combination'),
    colormap: Described(Nullable(Type.String()), 'Colormap name from `cog.colormaps`; null for RGB'),
    rescale: Described(Nullable(Type.String()), 'Value range of the colours as `min,max`; null for automatic'),
    is_default: Type.Boolean({ description: 'Whether this is the default visualization' }),
    category: Described(Nullable(Type.String()), 'Category that groups visualizations; null if none'),
    description: Type.String({ description: 'Description of the visualization' }),
  },
  { $id: 'Visualization', description: 'A way to render an item' },
)

/** Lists the visualizations of bands with these roles, best first, and the default. A DEM has one: elevation. */
export default operation({
  id: 'visualization.list_for',
  scope: 'tiles:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    band_roles: Described(
      Type.Optional(Type.Record(Type.String({ maxLength: 100 }), Type.Integer({ minimum: 1, maximum: 64 }))),
      'Band role to 1-based band number, for example `{"RED": 3, "NIR": 4}`',
    ),
    data_type: Defaulted(Type.String({ maxLength: 100 }), 'raster', { description: 'Type of the raster data' }),
    render_params: Described(Type.Optional(FreeForm), 'Rendering hints of the data source'),
    asset: Described(Type.Optional(Nullable(Type.String({ maxLength: 200 }))), 'Asset key'),
  }),
  output: Closed(
    {
      visualizations: Type.Array(Spec, { description: 'Available visualizations, best first' }),
      default_id: Described(Nullable(Type.String()), 'ID of the default visualization; null if there is none'),
    },
    { description: 'Available visualizations, best first' },
  ),
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
    if (Object.keys(band_roles).length > 64) throw invalidField('band_roles', 'must have at most 64 entries')
    const { visualizations, default_id } = listVisualizations({
      bandRoles: band_roles,
      dataType: data_type,
      renderParams: readParams(render_params),
    })
    return {
      visualizations: visualizations.map(({ kind, ...rest }) => ({ ...rest, asset, kind: kind === 'single' ? ('raw' as const) : kind })),
      default_id,
    }
  },
})

/** Keeps the hints that we use, if they have the right type. */
function readParams(params: Record<string, unknown>): RenderParams {
  const text = (name: string) => (typeof params[name] === 'string' ? { [name]: params[name] } : {})
  const scale = typeof params['reflectance_scale'] === 'number' ? { reflectance_scale: params['reflectance_scale'] } : {}
  return { ...text('default_id'), ...text('rescale'), ...text('colormap'), ...scale }
}
