/** What is computed for every pixel: an expression, a published index or a formula saved by the organization. */
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

interface MeasureInput {
  expression?: string | null | undefined
  index_name?: string | null | undefined
  reflectance_scale?: number | null | undefined
}

/** The definition of a measure, looked up once and then resolved against the bands of each scene. */
export type Definition =
  | { formula: Formula }
  | { text: string; label: string; colormap: string | null; range: readonly [number, number] | null }

export interface Measure {
  /** Over band numbers, as tile URLs accept it. */
  expression: string
  label: string
  colormap: string | null
  range: readonly [number, number] | null
  /** Factor that converts samples to reflectance, for an index that requires it. */
  reflectanceScale: number
}

export async function findMeasure({ db, principal }: Pick<Context, 'db' | 'principal'>, input: MeasureInput): Promise<Definition> {
  const { expression, index_name: name } = input
  if ((expression == null) === (name == null)) throw invalidField('expression', 'Send exactly one of expression and index_name')
  if (name == null) return { text: expression!, label: expression!, colormap: null, range: null }
  const formula = findFormula(name)
  if (formula) return { formula }
  const saved = principal.organizationId ? await bandFormulas.findNamed(db, principal.organizationId, name) : null
  if (!saved) throw invalidField('index_name', `unknown index '${name.slice(0, 50)}'${nearestIndex(name)}`)
  return { text: saved.formula, label: saved.displayName ?? saved.name, colormap: saved.colormap, range: [saved.rangeLow, saved.rangeHigh] }
}

const nearestIndex = (name: string): string =>
  meant(
    name,
    formulas().map(({ id }) => id),
    'see analytics.indices.list and band_formulas.list',
  )

/** The measure over the bands of one scene, or 422 that lists the missing bands. */
export function measureOf(definition: Definition, scene: Scene, input: MeasureInput): Measure {
  if ('formula' in definition) return indexMeasure(definition.formula, scene, input)
  const names = namesFor(definition.text, scene.names)
  parseExpression(definition.text, { names, bandCount: scene.info.bandCount })
  return {
    expression: withBandNumbers(definition.text, names),
    label: definition.label,
    colormap: definition.colormap,
    range: definition.range,
    reflectanceScale: 1,
  }
}

function indexMeasure(formula: Formula, scene: Scene, { reflectance_scale }: MeasureInput): Measure {
  const reflectanceScale = formula.reflectance
    ? (reflectance_scale ?? reflectanceScaleOf(scene.info, scene.sensor?.reflectanceScale ?? undefined))
    : 1
  const expression = resolveFormula(formula, scene.names, { reflectanceScale })
  if (expression === null) {
    const roles = normalizeRoles(scene.names)
    const missing = formula.roles.filter((role) => !roles.has(role))
    const source = scene.item ? `'${scene.item.name}'` : 'the file'
    throw invalidField(
      'index_name',
      `${formula.id} requires ${formula.roles.join(', ')}, but ${source} has no ${missing.join(', ')}; ` +
        `${listBands(scene.names, scene.info.bandCount)}; map them with band_mapping`,
    )
  }
  return { expression, label: formula.id, colormap: formula.colormap, range: formula.range, reflectanceScale }
}

const NAME = /[A-Za-z_][A-Za-z0-9_]*/g

const withBandNumbers = (expression: string, names: BandNames): string =>
  expression.replaceAll(NAME, (name) => (!/^b[1-9][0-9]?$/.test(name) && Object.hasOwn(names, name) ? `b${names[name]}` : name))
