/** A form made from a JSON Schema: what is required first, the rest folded. Items are picked, areas drawn, everything can be typed. */
import { useId, useMemo, useState, type ReactElement } from 'react'
import { useOp } from '../api/query.ts'
import { areaOf } from '../map/geo.ts'
import { AreaProblem, readArea } from '../map/read-area.ts'
import { itemsIn, type FoundItem } from '../state/found-item.ts'
import { area as areaText, date, plural } from '../ui/format.ts'
import { Button, Check, Choice, Field } from '../ui/kit.ts'
import { isJsonText, jsonText, jsonValue } from './json-text.ts'
import {
  errorOf,
  isArea,
  isItem,
  labelOf,
  listValue,
  optionValue,
  orderedFields,
  type FieldError,
  type Schema,
  type Values,
} from './schema-values.ts'
import { classes } from '../ui/classes.ts'
import styles from './schema-form.module.css'
import fieldStyles from '../ui/field.module.css'
import ui from '../ui/ui.module.css'

interface FormParts {
  schema: Schema
  values: Values
  errors: readonly FieldError[]
  onChange(values: Values): void
}

const MAX_ITEMS = 200
export function SchemaForm({ schema, values, errors, onChange }: FormParts): ReactElement {
  const required = schema.required ?? []
  const { first, rest } = orderedFields(schema)
  const field = (name: string) => (
    <SchemaField
      key={name}
      name={name}
      schema={schema.properties![name]!}
      isRequired={required.includes(name)}
      value={values[name]}
      error={errorOf(errors, name)}
      onChange={(value) => {
        const { [name]: _old, ...others } = values
        onChange(value === undefined ? others : { ...others, [name]: value })
      }}
    />
  )
  const isRestUsed = rest.some((name) => values[name] !== undefined)
  return (
    <div className={classes(ui.flexColumn, ui.gap16)}>
      {first.length > 0 && <div className={styles.fields}>{first.map(field)}</div>}
      {rest.length > 0 && (
        <details className={styles.more} open={isRestUsed || first.length === 0 || undefined}>
          <summary>{plural(rest.length, 'more setting')}</summary>
          <div className={classes(styles.fields, ui.marginTop12)}>{rest.map(field)}</div>
        </details>
      )}
    </div>
  )
}

interface OneParts {
  name: string
  schema: Schema
  isRequired: boolean
  value: unknown
  error: string | undefined
  onChange(value: unknown): void
}

function SchemaField(parts: OneParts): ReactElement {
  const { name, schema, isRequired, value, error, onChange } = parts
  const label = `${schema.title ?? labelOf(name)}${isRequired ? '' : ' (optional)'}`
  const help = schema.description
  if (isItem(name)) return <ItemField {...parts} label={label} />
  if (name === 'item_ids') return <ItemsField {...parts} label={label} />
  if (isArea(name, schema)) return <AreaField {...parts} label={label} />
  if (schema.enum)
    return (
      <Choice
        label={label}
        help={help}
        error={error}
        value={String(value ?? schema.default ?? '')}
        onChange={(event) => onChange(optionValue(schema, event.target.value))}
        options={[
          ...(schema.default === undefined && !isRequired ? [{ value: '', text: 'Default' }] : []),
          ...schema.enum.map((value) => ({ value: String(value), text: labelOf(String(value)) })),
        ]}
      />
    )
  if (schema.type === 'boolean')
    return (
      <Check checked={Boolean(value ?? schema.default ?? false)} onChange={onChange}>
        {label}. <span className={ui.soft}>{help}</span>
      </Check>
    )
  if (schema.type === 'integer' || schema.type === 'number')
    return (
      <Field
        label={label}
        help={help}
        error={error}
        type="number"
        inputMode="decimal"
        step={schema.type === 'integer' ? 1 : 'any'}
        min={schema.minimum ?? schema.exclusiveMinimum}
        max={schema.maximum}
        required={isRequired}
        placeholder={schema.default === undefined ? undefined : String(schema.default)}
        value={value === undefined ? '' : String(value)}
        onChange={(event) => onChange(event.target.value === '' ? undefined : Number(event.target.value))}
      />
    )
  if (schema.format === 'date-time')
    return (
      <Field
        label={label}
        help={help}
        error={error}
        type="date"
        required={isRequired}
        value={typeof value === 'string' ? value.slice(0, 10) : ''}
        onChange={(event) => onChange(event.target.value ? `${event.target.value}T00:00:00Z` : undefined)}
      />
    )
  if (schema.type === 'array' && schema.items?.type !== 'object') return <ListField {...parts} label={label} />
  if (schema.type === 'array' || schema.type === 'object') return <JsonField {...parts} label={label} />
  return (
    <Field
      label={label}
      help={help}
      error={error}
      required={isRequired}
      className={name === 'expression' ? fieldStyles.monoField : ''}
      spellCheck={false}
      placeholder={schema.default === undefined ? undefined : String(schema.default)}
      value={typeof value === 'string' ? value : ''}
      onChange={(event) => onChange(event.target.value || undefined)}
    />
  )
}

type LabelledParts = OneParts & { label: string }

/** Words or numbers with commas between. */
function ListField({ label, schema, value, error, onChange }: LabelledParts): ReactElement {
  const given = (value ?? []) as readonly (string | number)[]
  const [text, setText] = useState(given.join(', '))
  const read = (next: string) => {
    setText(next)
    onChange(listValue(schema, next))
  }
  const standard = Array.isArray(schema.default) && schema.default.length > 0 ? schema.default.join(', ') : undefined
  return (
    <Field
      label={label}
      help={`${schema.description ?? ''} Separate values with commas.`}
      error={error}
      value={text}
      placeholder={standard}
      onChange={(event) => read(event.target.value)}
    />
  )
}

function JsonField({ label, schema, value, error, onChange }: LabelledParts): ReactElement {
  const id = useId()
  const [text, setText] = useState(jsonText(value))
  const wrong = isJsonText(text) ? undefined : 'Enter a JSON object or array.'
  const read = (next: string) => {
    setText(next)
    onChange(jsonValue(next))
  }
  return (
    <div className={fieldStyles.field}>
      <label className={fieldStyles.label} htmlFor={id}>
        {label}
      </label>
      <textarea
        id={id}
        className={classes(fieldStyles.input, styles.areaText, ui.mono)}
        rows={4}
        spellCheck={false}
        value={text}
        aria-invalid={wrong || error ? true : undefined}
        aria-describedby={`${id}-help`}
        onChange={(event) => read(event.target.value)}
      />
      <p className={wrong || error ? fieldStyles.error : fieldStyles.help} id={`${id}-help`}>
        {wrong ?? error ?? `${schema.description ?? ''} As JSON.`}
      </p>
    </div>
  )
}

/** An area is drawn on the map beside the form; here it is said, typed or taken away. */
function AreaField({ label, schema, value, error, onChange }: LabelledParts): ReactElement {
  const [text, setText] = useState('')
  const [wrong, setWrong] = useState<string>()
  const area = (value ?? null) as GeoJSON.Polygon | null
  const take = async () => {
    try {
      const read = await readArea(text)
      if (read?.kind !== 'area') return setWrong('Paste a polygon as GeoJSON, WKT or KML.')
      onChange(read.geometry)
      setText('')
      setWrong(undefined)
    } catch (cause) {
      setWrong(cause instanceof AreaProblem ? cause.message : 'Could not read this area.')
    }
  }
  if (area)
    return (
      <div className={fieldStyles.field}>
        <span className={fieldStyles.label}>{label}</span>
        <div className={classes(ui.flexRow, ui.gap8)}>
          <span className={ui.grow}>{areaText(areaOf(area))}, drawn on the map</span>
          <Button size="s" onClick={() => onChange(undefined)}>
            Remove area
          </Button>
        </div>
        {error && (
          <p className={fieldStyles.error} role="alert">
            {error}
          </p>
        )}
      </div>
    )
  return (
    <Field
      label={label}
      help={`Draw it on the map, or paste it here. ${schema.description ?? ''}`}
      error={wrong ?? error}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => {
        if (text.trim()) void take()
      }}
      end={
        <Button disabled={text.trim() === ''} onClick={() => void take()}>
          Use
        </Button>
      }
    />
  )
}

export function useItems(): { items: readonly FoundItem[]; isPending: boolean } {
  const { data, isPending } = useOp('items.search_org', { limit: MAX_ITEMS }, { staleTime: 30_000 })
  return { items: useMemo(() => itemsIn(data), [data]), isPending }
}

const choiceOf = ({ id, name, datetime }: FoundItem) => ({ value: id, text: datetime === null ? name : `${name}, ${date(datetime)}` })

function ItemField({ label, schema, value, error, onChange }: LabelledParts): ReactElement {
  const { items, isPending } = useItems()
  const list = items.map(choiceOf)
  const current = typeof value === 'string' ? value : ''
  const isKnown = current === '' || list.some((option) => option.value === current)
  return (
    <Choice
      label={label}
      help={schema.description}
      error={error}
      value={current}
      onChange={(event) => onChange(event.target.value || undefined)}
      options={[
        { value: '', text: isPending ? 'Loading' : list.length === 0 ? 'No items yet. Upload or order one.' : 'Choose an item' },
        ...(isKnown ? [] : [{ value: current, text: current }]),
        ...list,
      ]}
    />
  )
}

function ItemsField({ label, schema, value, error, onChange }: LabelledParts): ReactElement {
  const { items, isPending } = useItems()
  const chosenIds = (value ?? []) as readonly string[]
  const toggle = (id: string, on: boolean) => {
    const next = on ? [...chosenIds, id] : chosenIds.filter((chosenId) => chosenId !== id)
    onChange(next.length === 0 ? undefined : next)
  }
  return (
    <fieldset className={classes(fieldStyles.field, styles.pickItems)}>
      <legend className={fieldStyles.label}>{label}</legend>
      <div className={styles.pickList}>
        {items.map((item) => (
          <Check key={item.id} checked={chosenIds.includes(item.id)} onChange={(on) => toggle(item.id, on)}>
            {choiceOf(item).text}
          </Check>
        ))}
        {!isPending && items.length === 0 && <p className={ui.soft}>No items yet. Upload or order some.</p>}
      </div>
      <p className={error ? fieldStyles.error : fieldStyles.help}>
        {error ?? `${plural(chosenIds.length, 'item')} selected. ${schema.description ?? ''}`}
      </p>
    </fieldset>
  )
}
