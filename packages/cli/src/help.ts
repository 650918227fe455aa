/** Help texts, from the same tables that run the commands. */
import { stripVTControlCharacters } from 'node:util'
import { extraFlags, command, flagOf, commandName, summaries, type Field } from './catalogue.ts'
import { flagsOf, typesOf } from './fields.ts'
import { GLOBAL_FLAGS } from './options.ts'
import { COMMANDS } from './commands.ts'
import { columnsOf, paint } from './terminal.ts'

const WIDTH = 28
const MAX_WIDTH = 36
const MIN_TEXT = 20

/** Wraps long texts at the width of the terminal. */
function row(name: string, text: string, width = WIDTH): string {
  const available = Math.max(MIN_TEXT, columnsOf(process.stdout) - width - 2)
  const lines: string[] = ['']
  for (const word of text.split(' ')) {
    const longer = lines.at(-1) === '' ? word : `${lines.at(-1)} ${word}`
    if (stripVTControlCharacters(longer).length <= available || lines.at(-1) === '') lines[lines.length - 1] = longer
    else lines.push(word)
  }
  const indent = `\n  ${' '.repeat(width)}`
  return `  ${name.length >= width ? `${name}${indent}` : name.padEnd(width)}${lines.join(indent)}`
}
const head = (text: string) => paint('bold', text)

export function topHelp(): string {
  const counts = new Map<string, number>()
  for (const id of Object.keys(summaries())) counts.set(id.split('.')[0]!, (counts.get(id.split('.')[0]!) ?? 0) + 1)
  const lines = [...counts].map(([domain, count]) => row(commandName(domain), `${count} ${count === 1 ? 'operation' : 'operations'}`))
  return `${head('groundtrack')}: satellite and aerial imagery from a terminal

${head('Usage')}
  groundtrack <command> [options]

${head('Common commands')}
${Object.entries(COMMANDS)
  .map(([name, { usage, about }]) => row(usage.split(' ')[0] === name ? name : usage, about))
  .join('\n')}

${head('All operations')}  groundtrack <domain> <operation> --field value
${lines.join('\n')}

${head('Common options')}
${globalRows()}

Run groundtrack <command> --help for details, or groundtrack man for the manual.
`
}

const globalRows = () => GLOBAL_FLAGS.map(([name, takesValue, about]) => row(`--${name}${takesValue ? ' VALUE' : ''}`, about)).join('\n')

/** The operations of a domain, or of a group within it. */
export function domainHelp(prefix: string): string | null {
  const operations = Object.entries(summaries()).filter(([id]) => id.startsWith(`${prefix}.`))
  if (operations.length === 0) return null
  const width = Math.min(MAX_WIDTH, Math.max(WIDTH, ...operations.map(([id]) => commandName(id).length + 2)))
  const rows = operations.map(([id, summary]) => row(commandName(id), summary, width))
  return `${head(`groundtrack ${commandName(prefix)}`)}\n${rows.join('\n')}\n`
}

export function commandHelp(name: string): string {
  const { usage, about, options, examples } = COMMANDS[name]!
  const rows = options.map(([flag, text]) => row(flag, text)).join('\n')
  const exampleLines = examples.length > 0 ? `\n${head('Examples')}\n${examples.map((line) => `  ${line}`).join('\n')}\n` : ''
  return `${about}

${head('Usage')}
  groundtrack ${usage}
${rows ? `\n${head('Options')}\n${rows}\n` : ''}${exampleLines}`
}

export function operationHelp(id: string): string {
  const operation = command(id)
  const fields = flagsOf(operation)
  const rows = fields.map(({ flag, field, isRequired }) => row(`--${flag} ${placeholder(field)}`, about(field, isRequired)))
  const own = extraFlags(operation).map(([flag, text]) => row(flag, text))
  return `${operation.summary}
${operation.description}

${head('Usage')}
  groundtrack ${commandName(id)}${fields.length > 0 ? ' [options]' : ''}

${head('Options')}
${[...rows, ...own].join('\n')}

${head('Example')}
  groundtrack ${commandName(id)}${exampleFlags(operation.example)}
`
}

function placeholder(field: Field): string {
  const types = typesOf(field).filter((type) => type !== 'null')
  const choices = field.enum ?? field.anyOf?.flatMap((part) => part.enum ?? []) ?? []
  if (choices.length > 0 && choices.length <= 6) return choices.join('|')
  if (types.includes('array')) return 'A,B,…'
  if (types.includes('boolean')) return ''
  return types.includes('object') ? 'JSON|@FILE' : types.includes('integer') || types.includes('number') ? 'NUMBER' : 'TEXT'
}

function about(field: Field, isRequired: boolean): string {
  const text = field.description ?? field.anyOf?.find(({ description }) => description !== undefined)?.description ?? ''
  const fallback = field.default === undefined || field.default === null ? '' : `default ${JSON.stringify(field.default)}`
  return [isRequired ? paint('yellow', 'required') : '', text, fallback].filter((part) => part !== '').join('; ')
}

function exampleFlags(example: Readonly<Record<string, unknown>>): string {
  return Object.entries(example)
    .map(([name, value]) => {
      if (value === true) return ` --${flagOf(name)}`
      if (value === false) return ` --no-${flagOf(name)}`
      if (Array.isArray(value) && value.every((part) => typeof part !== 'object')) return ` --${flagOf(name)} ${quote(value.join(','))}`
      return ` --${flagOf(name)} ${quote(typeof value === 'string' ? value : JSON.stringify(value))}`
    })
    .join('')
}

const quote = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`)
