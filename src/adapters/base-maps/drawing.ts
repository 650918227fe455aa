/** How vector tiles of an archive without a style are drawn: by the names that OpenMapTiles and Protomaps give their layers. */
import type { Theme } from '#core/base-maps.ts'

const COLOURS = {
  light: {
    ground: '#f0f2ee',
    water: '#c9dbe3',
    green: '#dfe9d6',
    built: '#e0dfda',
    road: '#ffffff',
    edge: '#c8c4ba',
    border: '#9aa9a7',
    name: '#43535c',
  },
  dark: {
    ground: '#202e35',
    water: '#0c171d',
    green: '#22362f',
    built: '#2b3a42',
    road: '#4a5c66',
    edge: '#31414a',
    border: '#5d727c',
    name: '#a9bac3',
  },
} as const

const NAME = ['coalesce', ['get', 'name:en'], ['get', 'name:latin'], ['get', 'name']]
const widthBy = (...stops: number[]) => ['interpolate', ['exponential', 1.5], ['zoom'], ...stops]

/** From bottom to top. */
export function drawnLayers(names: readonly string[], theme: Theme, source: string): object[] {
  const colours = COLOURS[theme]
  const part = (name: string) => ({ source, 'source-layer': name })
  const fill = (pattern: RegExp, colour: string) =>
    names
      .filter((name) => pattern.test(name))
      .map((name) => ({ id: `base-${name}`, type: 'fill', ...part(name), filter: polygons, paint: { 'fill-color': colour } }))
  const line = (pattern: RegExp, paint: object, id = 'base') =>
    names.filter((name) => pattern.test(name)).map((name) => ({ id: `${id}-${name}`, type: 'line', ...part(name), paint }))
  const known = /^(earth|land|landcover|landuse|park|water|waterway|buildings?|transportation|roads?|boundar(y|ies)|places?)$/
  return [
    { id: 'base-ground', type: 'background', paint: { 'background-color': colours.ground } },
    ...fill(/^(earth|land)$/, colours.ground),
    ...fill(/^(landcover|landuse|park)$/, colours.green),
    ...fill(/^water$/, colours.water),
    ...line(/^waterway$/, { 'line-color': colours.water, 'line-width': widthBy(6, 0.5, 14, 3) }),
    ...fill(/^buildings?$/, colours.built),
    ...line(/^(transportation|roads?)$/, { 'line-color': colours.edge, 'line-width': widthBy(5, 0.6, 16, 9) }, 'base-edge'),
    ...line(/^(transportation|roads?)$/, { 'line-color': colours.road, 'line-width': widthBy(5, 0.3, 16, 7) }),
    ...line(/^boundar(y|ies)$/, { 'line-color': colours.border, 'line-width': widthBy(3, 0.5, 12, 2), 'line-dasharray': [3, 2] }),
    // What has another name is not lost: its outlines are drawn.
    ...names
      .filter((name) => !known.test(name) && !/name|label|poi|housenumber|aerodrome|mountain/.test(name))
      .map((name) => ({ id: `base-${name}`, type: 'line', ...part(name), paint: { 'line-color': colours.border, 'line-width': 0.7 } })),
    ...names
      .filter((name) => /^places?$/.test(name))
      .map((name) => ({
        id: `base-${name}`,
        type: 'symbol',
        ...part(name),
        layout: { 'text-field': NAME, 'text-font': ['Noto Sans Regular'], 'text-size': 12, 'text-max-width': 7 },
        paint: { 'text-color': colours.name, 'text-halo-color': colours.ground, 'text-halo-width': 1.3 },
      })),
  ]
}

const polygons = ['==', ['geometry-type'], 'Polygon']
