/** What hillshade, slope and aspect have in common: heights in, one band out. */
import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { AssetKey, Item, OutputName } from './params.ts'
import type { OpenSource, Produced, RunContext } from './process.ts'
import { derivedRaster } from './single.ts'

export const heightFields = {
  item_id: Item,
  asset_key: AssetKey,
  band: Type.Optional(Type.Integer({ minimum: 1, maximum: 512, description: 'The band with the heights; 1 by default' })),
  scale: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      description: 'Units of the grid for each unit of height; 111120 for degrees and metres, which is the default there',
    }),
  ),
  output_name: OutputName,
}

export function requireBand(band: number | undefined, source: OpenSource): void {
  if ((band ?? 1) > source.info.bandCount) throw invalidField('band', `the raster has ${source.info.bandCount} bands`)
}

interface Look {
  readonly name: string
  readonly config: object
}

export async function runTerrain(
  { compute }: RunContext,
  { kind, output_name, options, look }: { kind: string; output_name: string | undefined; options: object; look: Look },
  sources: readonly OpenSource[],
): Promise<Produced> {
  const [source] = sources
  const request = { method: 'terrain', sources: [source!.source], options: { kind, ...options }, outputs: ['data.tif'] }
  const { files } = await compute(request, { name: `computing ${kind}` })
  const made = derivedRaster(sources, {
    name: output_name,
    suffix: kind,
    path: files['data.tif']!.path,
    bandNames: [kind],
    look: { ...look, type: 'singleband' },
  })
  return { items: [made] }
}
