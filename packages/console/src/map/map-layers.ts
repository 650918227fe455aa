/** The layers of a named map on the map of the console. */
import { MapLayers } from '../../../share/map-layers.ts'
import { tileImage } from '../api/tile-image.ts'
import type { SharedMap } from './shared-map.ts'

export type { DrawnLayer, MapLayers } from '../../../share/map-layers.ts'

export const layersOn = ({ map, ready }: SharedMap): MapLayers => new MapLayers({ map, ready, below: 'above-rasters', load: tileImage })
