/**
 * What the style sheets of the console must not have: classes that nobody uses, classes that nobody wrote, names that say nothing.
 * Pure functions over the files of the repository, as in tools/tidy.ts.
 */
import path from 'node:path'
import { scopedName } from '../packages/console/css-modules.ts'
import type { Fault, Tree } from './tidy.ts'

const SOURCE = 'packages/console/src/'
const PAGE = 'packages/console/index.html'
const UTILITIES = `${SOURCE}ui/ui.module.css`
const MIN_LETTERS = 4
/** Classes of libraries, which name them. */
const FOREIGN = /^(maplibregl|u)-/

const lineAt = (text: string, index: number) => text.slice(0, index).split('\n').length
const isModule = (file: string) => file.startsWith(SOURCE) && file.endsWith('.module.css')
const isGlobal = (file: string) => file.startsWith(SOURCE) && file.endsWith('.css') && !isModule(file)
const withoutComments = (css: string) => css.replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ' '))

interface Name {
  readonly name: string
  readonly index: number
  readonly isForeign: boolean
}

/** Every class in the selectors of a style sheet; `:global(.…)` names a class of another one. */
function classesOf(css: string): Name[] {
  const text = withoutComments(css)
  const names: Name[] = []
  for (const { 0: selector, index: at } of text.matchAll(/[^{};]+(?=\{)/g)) {
    if (/^\s*@/.test(selector)) continue
    for (const match of selector.matchAll(/(:global\()?\.([A-Za-z_][\w-]*)/g))
      names.push({ name: match[2]!, index: at + match.index, isForeign: match[1] !== undefined })
  }
  return names
}

/** Names that a module gives to a file's imports of style sheets: `import styles from './chip.module.css'`. */
function stylesIn(file: string, text: string): Map<string, string> {
  const imports = text.matchAll(/^import (\w+) from '([^']+\.module\.css)'$/gm)
  return new Map([...imports].map(([, name, specifier]) => [name!, path.posix.join(path.posix.dirname(file), specifier!)]))
}

/** Every `styles.name` of the console: the style sheet, the class, and where. */
function* uses(tree: Tree): Generator<{ file: string; line: number; module: string; name: string }> {
  for (const [file, text] of tree) {
    if (!file.startsWith(SOURCE) || !/\.tsx?$/.test(file)) continue
    const modules = stylesIn(file, text)
    if (modules.size === 0) continue
    const pattern = new RegExp(String.raw`(?<![\w.'/-])(${[...modules.keys()].join('|')})\.(\w+)`, 'g')
    for (const match of text.matchAll(pattern))
      yield { file, line: lineAt(text, match.index), module: modules.get(match[1]!)!, name: match[2]! }
  }
}

/** Classes by the style sheet that defines them. */
function definitions(tree: Tree): Map<string, Map<string, number>> {
  const all = new Map<string, Map<string, number>>()
  for (const [file, text] of tree) {
    if (!isModule(file)) continue
    const own = new Map<string, number>()
    for (const { name, index, isForeign } of classesOf(text)) if (!isForeign && !own.has(name)) own.set(name, lineAt(text, index))
    all.set(file, own)
  }
  return all
}

/** Class names as a browser sees them, of the whole console. */
const scopedNames = (tree: Tree) =>
  new Set([...definitions(tree)].flatMap(([file, names]) => [...names.keys()].map((name) => scopedName(name, file))))

export function unusedClasses(tree: Tree): Fault[] {
  const used = new Set([...uses(tree)].map(({ module, name }) => `${module} ${name}`))
  return [...definitions(tree)].flatMap(([file, names]) =>
    [...names]
      .filter(([name]) => !used.has(`${file} ${name}`))
      .map(([name, line]) => ({ file, line, advice: `no component uses .${name}: delete its rules` })),
  )
}

export function unknownClasses(tree: Tree): Fault[] {
  const known = definitions(tree)
  const scoped = scopedNames(tree)
  const inCode = [...uses(tree)]
    .filter(({ module, name }) => !known.get(module)?.has(name))
    .map(({ file, line, module, name }) => ({ file, line, advice: `${module} has no class ${name}` }))
  const inStyles = [...tree].flatMap(([file, text]) =>
    isModule(file) || isGlobal(file)
      ? classesOf(text)
          .filter(({ name, isForeign }) => (isForeign || isGlobal(file)) && !FOREIGN.test(name) && !scoped.has(name))
          .map(({ name, index }) => ({
            file,
            line: lineAt(text, index),
            advice: `no style sheet defines .${name}; global ones define none`,
          }))
      : [],
  )
  const page = tree.get(PAGE) ?? ''
  const inPage = [...page.matchAll(/\sclass="([^"]*)"/g)].flatMap(({ 1: list, index }) =>
    list!
      .split(/\s+/)
      .filter((name) => !scoped.has(name))
      .map((name) => ({ file: PAGE, line: lineAt(page, index), advice: `no style sheet defines .${name}` })),
  )
  return [...inCode, ...inStyles, ...inPage]
}

export function shortClasses(tree: Tree): Fault[] {
  return [...definitions(tree)].flatMap(([file, names]) =>
    [...names]
      .filter(([name]) => name.length < MIN_LETTERS)
      .map(([name, line]) => ({ file, line, advice: `.${name}: say in whole words what it is for` })),
  )
}

/** Classes are written as they are read in code: camelCase. Two style sheets of one name would share their classes. */
export function oddStyleNames(tree: Tree): Fault[] {
  const odd = [...definitions(tree)].flatMap(([file, names]) =>
    [...names]
      .filter(([name]) => !/^[a-z][A-Za-z0-9]*$/.test(name))
      .map(([name, line]) => ({ file, line, advice: `.${name}: write it in camelCase` })),
  )
  const files = Map.groupBy([...tree.keys()].filter(isModule), (file) => path.posix.basename(file))
  const twice = [...files.values()].flatMap(([, ...others]) =>
    others.map((file) => ({ file, line: 1, advice: 'another style sheet has this name: a class is called after its file' })),
  )
  return [...odd, ...twice]
}

/** The properties that a style sheet sets for each class by itself: rules whose selector is that class alone, in every window. */
function propertiesOf(css: string): Map<string, Set<string>> {
  const properties = new Map<string, Set<string>>()
  const text = withoutComments(css).replaceAll(/@[^{]+\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g, '')
  for (const [, selectors, body] of text.matchAll(/([^{}]+)\{([^{}]*)\}/g))
    for (const [, name] of selectors!.matchAll(/(?<=^|,)\s*\.([\w-]+)\s*(?=,|$)/g)) {
      const own = properties.get(name!) ?? new Set()
      for (const [, property] of body!.matchAll(/(?:^|;)\s*([\w-]+)\s*:/g)) own.add(property!)
      properties.set(name!, own)
    }
  return properties
}

/** A utility beside a class that sets the same properties has no effect, because the style sheets of components are in later layers. */
export function uselessUtilities(tree: Tree): Fault[] {
  const sheets = new Map([...tree].filter(([file]) => isModule(file)).map(([file, text]) => [file, propertiesOf(text)]))
  const faults: Fault[] = []
  for (const [file, text] of tree) {
    if (!file.startsWith(SOURCE) || !file.endsWith('.tsx')) continue
    const modules = stylesIn(file, text)
    for (const { 1: list, index } of text.matchAll(/\bclasses\(([^()]*)\)/g)) {
      const names = [...list!.matchAll(/(?<=^|, |\s)(\w+)\.(\w+)(?=,|$|\s*$)/g)].map(([, module, name]) => ({
        name: `${module}.${name}`,
        isUtility: modules.get(module!) === UTILITIES,
        properties: sheets.get(modules.get(module!) ?? '')?.get(name!) ?? new Set<string>(),
      }))
      for (const utility of names.filter(({ isUtility, properties }) => isUtility && properties.size > 0)) {
        const winner = names.find(
          ({ isUtility, properties }) => !isUtility && [...utility.properties].every((property) => properties.has(property)),
        )
        if (winner) faults.push({ file, line: lineAt(text, index), advice: `${utility.name} has no effect: ${winner.name} sets the same` })
      }
    }
  }
  return faults
}

/** Text where a class name of a style sheet belongs. */
export function literalClasses(tree: Tree): Fault[] {
  return [...tree].flatMap(([file, text]) =>
    file.startsWith(SOURCE) && file.endsWith('.tsx')
      ? [...text.matchAll(/className=("|\{['"`])/g)].map(({ index }) => ({
          file,
          line: lineAt(text, index),
          advice: 'take the class from a style sheet: import styles from ./….module.css',
        }))
      : [],
  )
}
