import Type from 'typebox'
import { Closed } from '#core/shapes.ts'
import { invalidField } from '#core/problem.ts'
import { normalizeRoles } from '#raster/formulas/index.ts'
import { proposeBands } from '#raster/formulas/propose.ts'
import { namesOf } from '#services/processing/names.ts'
import { AssetKey, EXAMPLE_ITEM_ID, Item, ItemsOutput, OutputName } from '#services/processing/params.ts'
import { process, type OpenSource } from '#services/processing/process.ts'
import { derivedRaster, oneSource } from '#services/processing/single.ts'

const NEEDED = ['BLUE', 'GREEN', 'RED', 'NIR'] as const

/** Where it is cloudy. */
export default process({
  id: 'cloud_mask',
  title: 'Cloud mask',
  description:
    'Marks clouds by their colours (1 cloud, 0 clear, 255 no data), after Zhu and Woodcock 2012 without the thermal band. ' +
    'Thin cloud may be missed.',
  version: '1',
  category: 'bands',
  input: Closed({
    item_id: Item,
    asset_key: AssetKey,
    reflectance_scale: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, maximum: 1, description: 'From samples to reflectances; 0.0001 for 16-bit samples by default' }),
    ),
    brightness: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'How bright blue must be at least, as a reflectance; 0.24 by default, less for thin cloud too',
      }),
    ),
    output_name: OutputName,
  }),
  output: ItemsOutput,
  price: { creditsPerKm2: 0.02, minimumCredits: 5 },
  timeoutMinutes: 60,
  example: { item_id: EXAMPLE_ITEM_ID },
}).handle({
  sources: oneSource,
  check(_params, [source]) {
    bandsOf(source!)
  },
  async run({ compute }, { reflectance_scale, brightness, output_name }, sources) {
    const [source] = sources
    const { dataType } = source!.info
    const scale = reflectance_scale ?? (dataType === 'uint8' ? 1 / 255 : dataType.startsWith('float') ? 1 : 0.0001)
    const request = {
      method: 'clouds',
      sources: [source!.source],
      options: { bands: bandsOf(source!), scale, brightness },
      outputs: ['data.tif'],
    }
    const { files, result } = await compute(request, { name: 'looking for clouds' })
    const cover = result['cloudCover'] as number | null
    const look = { name: 'Clouds', type: 'singleband' as const, config: { bands: [1], color_table: true, colormap: 'tab20' } }
    const made = derivedRaster(sources, {
      name: output_name,
      suffix: 'cloud mask',
      path: files['data.tif']!.path,
      bandNames: ['cloud_mask'],
      isCategorical: true,
      cloudCover: cover,
      look,
    })
    return { items: [made], summary: { cloud_cover: cover } }
  },
})

function bandsOf(source: OpenSource): { blue: number; green: number; red: number; nir: number; swir?: number } {
  const guessed = () =>
    normalizeRoles(
      Object.fromEntries((proposeBands(source.info, null)?.bands ?? []).flatMap(({ role, index }) => (role ? [[role, index]] : []))),
    )
  const named = normalizeRoles(namesOf(source))
  const roles = NEEDED.every((role) => named.has(role)) ? named : guessed()
  const missing = NEEDED.filter((role) => !roles.has(role))
  if (missing.length > 0)
    throw invalidField('item_id', `needs the bands blue, green, red and nir; ${missing.join(', ').toLowerCase()} is not among them`)
  const swir = roles.get('SWIR1')
  return {
    blue: roles.get('BLUE')!,
    green: roles.get('GREEN')!,
    red: roles.get('RED')!,
    nir: roles.get('NIR')!,
    ...(swir === undefined ? {} : { swir }),
  }
}
