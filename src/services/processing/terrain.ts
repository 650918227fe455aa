/** Shared by hillshade, slope and aspect, which compute one band from elevations. */
import Type from 'typebox'
import { invalidField } from '#core/problem.ts'
import { AssetKey, Item, OutputName } from './params.ts'
import type { OpenSource, Produced, RunContext } from './process.ts'
import { derivedRaster } from './single.ts'

export const heightFields = {
  item_id: Item,
  asset_key: AssetKey,
  band: Type.Optional(Type.Integer({ minimum: 1, maximum: 512, description: '1-based number of the elevation band; default 1' })),
  scale: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      description: 'Ratio of horizontal to vertical units; defaults to 111120 for grids in degrees, else to 1',
    }),
  ),
  output_name: OutputName,
}

export function requireBand(band: number | undefined, source: OpenSource): void {
  if ((band ?? 1) > source.info.bandCount) throw invalidField('band', `must be at most ${source.info.bandCount}, the number of bands`)
}

interface TerrainStyle {
  readonly name: string
  readonly config: object
}

export async function runTerrain(
  { compute }: RunContext,
  { kind, output_name, options, style }: { kind: string; output_name: string | undefined; options: object; style: TerrainStyle },
  sources: readonly OpenSource[],
): Promise<Produced> {
  const [source] = sources
  const request = { method: 'terrain', sources: [source!.source], options: { kind, ...options }, outputs: ['data.tif'] }
  const { files } = await compute(request, { name: `computing ${kind}` })
  const item = derivedRaster(sources, {
    name: output_name,
    suffix: kind,
    path: files['data.tif']!.path,
    bandNames: [kind],
    style: { ...style, type: 'singleband' },
  })
  return { items: [item] }
}
