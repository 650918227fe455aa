import { formulasFor, normalizeRoles, resolveFormula, type BandRole, type BandRoles, type Formula } from './index.ts'

type VisualizationKind = 'rgb' | 'single' | 'index' | 'elevation'

/** A visualization: bands or an expression, with colormap and range. */
export interface Visualization {
  id: string
  label: string
  kind: VisualizationKind
  /** 1-based, three for rgb and one for single; null for an expression. */
  bands: number[] | null
  expression: string | null
  colormap: string | null
  /** `min,max`; null to use the statistics of the image. */
  rescale: string | null
  category: string
  description: string
  is_default: boolean
}

/** Optional metadata of a registry about the bands. */
export interface RenderParams {
  /** Overrides the derived default if it names one of the visualizations. */
  default_id?: string
  /** `min,max` for composites and single bands, for example `0,3000`. */
  rescale?: string
  /** Colormap of elevation and single bands. */
  colormap?: string
  /** Factor from samples to reflectances, for example 0.0001. */
  reflectance_scale?: number
}

interface VisualizationRequest {
  bandRoles: BandRoles
  /** `raster`, `dem`, or another data type of a registry. */
  dataType: string
  renderParams?: RenderParams
}

interface Composite {
  id: string
  label: string
  roles: readonly [BandRole, BandRole, BandRole]
  description: string
}

const COMPOSITES: readonly Composite[] = [
  { id: 'rgb', label: 'Natural colour', roles: ['RED', 'GREEN', 'BLUE'], description: 'Natural colours, as seen by eye' },
  { id: 'cir', label: 'Colour infrared', roles: ['NIR', 'RED', 'GREEN'], description: 'Healthy vegetation in red' },
  {
    id: 'swir',
    label: 'Shortwave infrared',
    roles: ['SWIR2', 'NIR', 'RED'],
    description: 'Penetrates haze and smoke; bare ground, water and fire stand out',
  },
  { id: 'agriculture', label: 'Agriculture', roles: ['SWIR1', 'NIR', 'BLUE'], description: 'Crop vigour; dense crops in bright green' },
  {
    id: 'urban',
    label: 'False colour urban',
    roles: ['SWIR2', 'SWIR1', 'RED'],
    description: 'Built-up areas in violet, vegetation in green',
  },
  { id: 'geology', label: 'Geology', roles: ['SWIR2', 'SWIR1', 'BLUE'], description: 'Distinguishes rock and soil types' },
  {
    id: 'land-water',
    label: 'Land and water',
    roles: ['NIR', 'SWIR1', 'RED'],
    description: 'Sharp shorelines; vegetation in orange and green',
  },
  { id: 'vegetation', label: 'Vegetation analysis', roles: ['SWIR1', 'NIR', 'RED'], description: 'Vegetation cover and moisture' },
  { id: 'red-edge', label: 'Red edge', roles: ['NIR', 'REDEDGE1', 'RED'], description: 'Early vegetation stress' },
  {
    id: 'atmospheric',
    label: 'Atmospheric penetration',
    roles: ['SWIR2', 'SWIR1', 'NIR'],
    description: 'Infrared only, so little haze',
  },
  { id: 'bathymetric', label: 'Bathymetric', roles: ['RED', 'GREEN', 'COASTAL'], description: 'Shallow water and sea floor' },
  { id: 'snow', label: 'Snow and ice', roles: ['BLUE', 'SWIR1', 'SWIR2'], description: 'Snow in red, clouds in white' },
]

const ELEVATION_TYPES: ReadonlySet<string> = new Set(['dem', 'dsm', 'dtm', 'elevation', 'bathymetry', 'terrain'])
const GENERAL_COLORMAP = 'viridis'
const GRAY_COLORMAP = 'gray'
/** Composites come before indices; the first available one is the default. */
const MAX_VISUALIZATIONS = 200

/** The visualizations that bands with these roles allow, best first, and the default. */
export function listVisualizations(request: VisualizationRequest): { visualizations: Visualization[]; default_id: string | null } {
  const { bandRoles, dataType, renderParams = {} } = request
  const roles = normalizeRoles(bandRoles)
  const isElevation = ELEVATION_TYPES.has(dataType.toLowerCase()) || (roles.has('ELEVATION') && roles.size === 1)
  const derived = isElevation ? [elevation(bandRoles, roles, dataType, renderParams)] : images(bandRoles, roles, renderParams)
  const list = derived.slice(0, MAX_VISUALIZATIONS)
  const chosen = list.find((visualization) => visualization.id === renderParams.default_id) ?? list[0]
  if (chosen) chosen.is_default = true
  return { visualizations: list, default_id: chosen?.id ?? null }
}

function images(bandRoles: BandRoles, roles: ReadonlyMap<BandRole, number>, params: RenderParams): Visualization[] {
  const composites = COMPOSITES.filter((composite) => composite.roles.every((role) => roles.has(role)))
  const list = [
    ...composites.map((composite) => compositeOf(composite, roles, params)),
    ...formulasFor(bandRoles).map((formula) => indexOf(formula, bandRoles, params)),
  ]
  // Without a composite, each band can be shown on its own, and the first one is the default.
  return composites.length > 0 ? list : [...singles(bandRoles, params), ...list]
}

function compositeOf(
  { id, label, roles: wanted, description }: Composite,
  roles: ReadonlyMap<BandRole, number>,
  params: RenderParams,
): Visualization {
  const bands = wanted.map((role) => roles.get(role) ?? 0)
  return toVisualization({ id, label, kind: 'rgb', bands, rescale: params.rescale ?? null, category: 'composite', description })
}

function indexOf(formula: Formula, bandRoles: BandRoles, params: RenderParams): Visualization {
  const { reflectance_scale: reflectanceScale } = params
  const expression = resolveFormula(formula, bandRoles, reflectanceScale === undefined ? {} : { reflectanceScale })
  // With unscaled samples, a formula with absolute constants exceeds its published range, so statistics are used.
  const isComparable = !formula.reflectance || reflectanceScale !== undefined
  return toVisualization({
    id: formula.id,
    label: formula.id.toUpperCase(),
    kind: 'index',
    expression,
    colormap: formula.colormap,
    rescale: isComparable ? formula.range.join(',') : null,
    category: formula.category,
    description: `${formula.name} (${formula.reference})`,
  })
}

function singles(bandRoles: BandRoles, params: RenderParams): Visualization[] {
  return Object.entries(bandRoles)
    .filter(([, band]) => Number.isInteger(band) && band >= 1)
    .map(([name, band]) =>
      toVisualization({
        id: `band-${band}`,
        label: name,
        kind: 'single',
        bands: [band],
        colormap: params.colormap ?? GRAY_COLORMAP,
        rescale: params.rescale ?? null,
        category: 'band',
        description: `Band ${band}`,
      }),
    )
}

function elevation(bandRoles: BandRoles, roles: ReadonlyMap<BandRole, number>, dataType: string, params: RenderParams): Visualization {
  const band = roles.get('ELEVATION') ?? Object.values(bandRoles)[0] ?? 1
  const isBathymetry = dataType.toLowerCase() === 'bathymetry'
  return toVisualization({
    id: 'elevation',
    label: isBathymetry ? 'Depth' : 'Elevation',
    kind: 'elevation',
    bands: [band],
    colormap: params.colormap ?? (isBathymetry ? 'bathymetry' : 'hypsometric'),
    rescale: params.rescale ?? null,
    category: 'elevation',
    description: isBathymetry ? 'Depth, from deep to shallow' : 'Elevation with hillshade, lit from the north-west',
  })
}

type Given = Pick<Visualization, 'id' | 'label' | 'kind' | 'category' | 'description'> & Partial<Visualization>

function toVisualization(given: Given): Visualization {
  const colormap = given.kind === 'rgb' ? null : GENERAL_COLORMAP
  const { id, label, kind, bands = null, expression = null, rescale = null, category, description } = given
  return { id, label, kind, bands, expression, colormap: given.colormap ?? colormap, rescale, category, description, is_default: false }
}
