/** What is computed of every pixel: an expression, a published index or a formula that the organization saved. */
import { meant } from '#core/nearest.ts'
import { invalidField } from '#core/problem.ts'
import * as bandFormulas from '#model/imagery/band-formula.ts'
import type { Context } from '#operation.ts'
import { listBands } from '#raster/expression/bands.ts'
import { parseExpression } from '#raster/expression/index.ts'
import { findFormula, formulas, normalizeRoles, resolveFormula, type Formula } from '#raster/formulas/index.ts'
import { namesFor } from '#raster/formulas/named.ts'
import { reflectanceScaleOf } from '#raster/formulas/reflectance.ts'
import type { BandNames } from '#raster/render/request.ts'
import type { Scene } from './scene.lib.ts'

interface Wanted {
  expression?: string | null | undefined
  index_name?: string | null | undefined
  reflectance_scale?: number | null | undefined
}

/** What a name stands for: looked up once, before scenes of other bands are asked for it. */
export type Known = { formula: Formula } | { text: string; label: string; colormap: string | null; range: readonly [number, number] | null }

export interface Measure {
  /** Over band numbers, as a tile address takes it. */
  expression: string
  label: string
  colormap: string | null
  range: readonly [number, number] | null
  /** What samples were multiplied by before an index that needs reflectances. */
  reflectanceScale: number
}

export async function findMeasure({ db, principal }: Pick<Context, 'db' | 'principal'>, wanted: Wanted): Promise<Known> {
  const { expression, index_name: name } = wanted
  if ((expression == null) === (name == null)) throw invalidField('expression', 'give an expression or an index_name, one of them')
  if (name == null) return { text: expression!, label: expression!, colormap: null, range: null }
  const formula = findFormula(name)
  if (formula) return { formula }
  const saved = principal.organizationId ? await bandFormulas.findNamed(db, principal.organizationId, name) : null
  if (!saved) throw invalidField('index_name', `there is no index '${name.slice(0, 50)}'${nearestIndex(name)}`)
  return { text: saved.formula, label: saved.displayName ?? saved.name, colormap: saved.colormap, range: [saved.rangeLow, saved.rangeHigh] }
}

const nearestIndex = (name: string): string =>
  meant(
    name,
    formulas().map(({ id }) => id),
    'analytics.indices.list and band_formulas.list have them',
  )

/** The measure in the bands of one scene, or 422 that names what the scene lacks. */
export function measureOf(known: Known, scene: Scene, wanted: Wanted): Measure {
  if ('formula' in known) return ofIndex(known.formula, scene, wanted)
  const names = namesFor(known.text, scene.names)
  parseExpression(known.text, { names, bandCount: scene.info.bandCount })
  return {
    expression: numbered(known.text, names),
    label: known.label,
    colormap: known.colormap,
    range: known.range,
    reflectanceScale: 1,
  }
}

function ofIndex(formula: Formula, scene: Scene, { reflectance_scale }: Wanted): Measure {
  const reflectanceScale = formula.reflectance
    ? (reflectance_scale ?? reflectanceScaleOf(scene.info, scene.sensor?.reflectanceScale ?? undefined))
    : 1
  const expression = resolveFormula(formula, scene.names, { reflectanceScale })
  if (expression === null) {
    const known = normalizeRoles(scene.names)
    const missing = formula.roles.filter((role) => !known.has(role))
    const of = scene.item ? `'${scene.item.name}'` : 'the file'
    throw invalidField(
      'index_name',
      `${formula.id} needs ${formula.roles.join(', ')}, and ${of} has no ${missing.join(', ')}; ` +
        `${listBands(scene.names, scene.info.bandCount)}; name them with band_mapping`,
    )
  }
  return { expression, label: formula.id, colormap: formula.colormap, range: formula.range, reflectanceScale }
}

const NAME = /[A-Za-z_][A-Za-z0-9_]*/g

const numbered = (expression: string, names: BandNames): string =>
  expression.replaceAll(NAME, (name) => (!/^b[1-9][0-9]?$/.test(name) && Object.hasOwn(names, name) ? `b${names[name]}` : name))
