/** The styles that a user can choose for an item. */
import type { Asset } from '#model/imagery/asset.ts'
import type { Profile } from '#model/imagery/visualization-profile.ts'
import type { Visualization } from '#raster/formulas/visualizations.ts'
import { bandNames, visualizationsOf } from '#raster/render/request.ts'
import type { RasterInfo } from '#raster/types.ts'

export interface StyleOption {
  id: string
  label: string
  kind: 'rgb' | 'index' | 'elevation' | 'raw'
  bands: number[] | null
  expression: string | null
  colormap: string | null
  rescale: string | null
  category: string | null
  is_default: boolean
  description: string
}

const KINDS = { rgb: 'rgb', singleband: 'raw', multiband: 'rgb', expression: 'index' } as const satisfies Record<
  Profile['type'],
  StyleOption['kind']
>

/** Saved styles first, then those derived from the bands, if the raster could be read. One of them is the default. */
export function styleOptions(
  profiles: readonly Profile[],
  raster: { info: RasterInfo; asset: Pick<Asset, 'bandNames'> } | null,
): StyleOption[] {
  const saved = profiles.map(toSaved)
  const derived = raster ? visualizationsOf(raster.info, bandNames(raster.info, raster.asset.bandNames)).visualizations.map(toDerived) : []
  const hasDefault = saved.some((each) => each.is_default)
  // An upload saves a derived style as its default; list it once.
  const others = derived.filter((each) => !saved.some((known) => isSame(known, each)))
  return [...saved, ...others.map((each) => (hasDefault ? { ...each, is_default: false } : each))]
}

function isSame(a: StyleOption, b: StyleOption): boolean {
  return (
    a.label === b.label &&
    a.kind === b.kind &&
    a.expression === b.expression &&
    a.colormap === b.colormap &&
    a.rescale === b.rescale &&
    String(a.bands) === String(b.bands)
  )
}

function toSaved({ id, name, type, config, isDefault }: Profile): StyleOption {
  return {
    id,
    label: name,
    kind: KINDS[type],
    bands: config.bands ?? null,
    expression: config.expression ?? null,
    colormap: config.colormap ?? null,
    rescale: config.rescale ?? null,
    category: 'saved',
    is_default: isDefault,
    description: '',
  }
}

function toDerived({ kind, ...rest }: Visualization): StyleOption {
  return { ...rest, kind: kind === 'single' ? 'raw' : kind }
}
