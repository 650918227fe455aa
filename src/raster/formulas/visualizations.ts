import { formulasFor, normalizeRoles, resolveFormula, type BandRole, type BandRoles, type Formula } from './index.ts'

type VisualizationKind = 'rgb' | 'single' | 'index' | 'elevation'

/** One way to show an image: bands or an expression, its colours and its range. */
export interface Visualization {
  id: string
  label: string
  kind: VisualizationKind
  /** 1-based, three for rgb and one for single; null for an expression. */
  bands: number[] | null
  expression: string | null
  colormap: string | null
  /** `min,max`, or null where the image's own statistics decide. */
  rescale: string | null
  category: string
  description: string
  is_default: boolean
}

/** What a registry may say about the data behind the bands. */
export interface RenderParams {
  /** Wins over the derived default when it names one of the visualizations. */
  default_id?: string
  /** `min,max` for composites and single bands, for example `0,3000`. */
  rescale?: string
  /** Elevation and single-band colours. */
  colormap?: string
  /** Factor from samples to reflectances, for example 0.0001. */
  reflectance_scale?: number
}

interface VisualizationRequest {
  bandRoles: BandRoles
  /** `raster`, `dem`, and whatever other kinds a registry knows. */
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
  { id: 'rgb', label: 'Natural colour', roles: ['RED', 'GREEN', 'BLUE'], description: 'As the eye would see it' },
  { id: 'cir', label: 'Colour infrared', roles: ['NIR', 'RED', 'GREEN'], description: 'Healthy plants in red' },
  {
    id: 'swir',
    label: 'Shortwave infrared',
    roles: ['SWIR2', 'NIR', 'RED'],
    description: 'Through haze and smoke; bare ground, water and fire stand out',
  },
  { id: 'agriculture', label: 'Agriculture', roles: ['SWIR1', 'NIR', 'BLUE'], description: 'Crops by vigour: dense ones in bright green' },
  { id: 'urban', label: 'False colour urban', roles: ['SWIR2', 'SWIR1', 'RED'], description: 'Built-up land in violet, plants in green' },
  { id: 'geology', label: 'Geology', roles: ['SWIR2', 'SWIR1', 'BLUE'], description: 'Rock and soil types apart' },
  {
    id: 'land-water',
    label: 'Land and water',
    roles: ['NIR', 'SWIR1', 'RED'],
    description: 'Shorelines sharp, plants in orange and green',
  },
  { id: 'vegetation', label: 'Vegetation analysis', roles: ['SWIR1', 'NIR', 'RED'], description: 'Plant cover and moisture' },
  { id: 'red-edge', label: 'Red edge', roles: ['NIR', 'REDEDGE1', 'RED'], description: 'Early stress in plants' },
  {
    id: 'atmospheric',
    label: 'Atmospheric penetration',
    roles: ['SWIR2', 'SWIR1', 'NIR'],
    description: 'No visible light, so little haze',
  },
  { id: 'bathymetric', label: 'Bathymetric', roles: ['RED', 'GREEN', 'COASTAL'], description: 'Shallow water and its ground' },
  { id: 'snow', label: 'Snow and ice', roles: ['BLUE', 'SWIR1', 'SWIR2'], description: 'Snow in red, clouds in white' },
]

const ELEVATION_TYPES: ReadonlySet<string> = new Set(['dem', 'dsm', 'dtm', 'elevation', 'bathymetry', 'terrain'])
const GENERAL_COLORMAP = 'viridis'
const GRAY_COLORMAP = 'gray'
/** Composites come before indices: the first of what remains is the default. */
const MAX_VISUALIZATIONS = 200

/** Lists the ways in which bands with these roles can be shown, best first, and says which one to start with. */
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
  // Without a single composite each band can still be looked at, and the first one is the default.
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
  // A formula with absolute constants on unscaled samples leaves its published range; the data decides then.
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
    description: isBathymetry ? 'Depths, deep to shallow' : 'Heights, low to high, lit from the north-west',
  })
}

type Given = Pick<Visualization, 'id' | 'label' | 'kind' | 'category' | 'description'> & Partial<Visualization>

function toVisualization(given: Given): Visualization {
  const colormap = given.kind === 'rgb' ? null : GENERAL_COLORMAP
  const { id, label, kind, bands = null, expression = null, rescale = null, category, description } = given
  return { id, label, kind, bands, expression, colormap: given.colormap ?? colormap, rescale, category, description, is_default: false }
}
