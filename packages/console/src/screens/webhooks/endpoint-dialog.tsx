/** An endpoint is made or changed: where, which event, which of them, with which headers. */
import { useId, useState, type ReactElement } from 'react'
import type { EventSubscription } from '../../api/contract.ts'
import { useAct } from '../../api/query.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Button, Choice, Field } from '../../ui/kit.ts'
import { FormProblem } from '../../ui/states.tsx'
import { exampleOf, fieldsOf, filterValue, useEventTypes, type EventTypeRow } from './event-types.ts'
import { classes } from '../../ui/classes.ts'
import styles from './webhooks.module.css'
import codeStyles from '../../ui/code.module.css'
import fieldStyles from '../../ui/field.module.css'
import ui from '../../ui/ui.module.css'

interface DialogParts {
  eventType: string
  endpoint: EventSubscription | null
  onClose(): void
  onDone(id: string, secret: string | null): void
}

type Pair = readonly [name: string, value: string]

export function EndpointDialog({ eventType, endpoint, onClose, onDone }: DialogParts): ReactElement {
  const types = useEventTypes()
  const [type, setType] = useState(eventType)
  const [address, setAddress] = useState(endpoint?.endpoint_url ?? '')
  const [description, setDescription] = useState(endpoint?.description ?? '')
  const [filters, setFilters] = useState<readonly Pair[]>(
    Object.entries(endpoint?.filter_config ?? {}).map(([name, wanted]) => [name, [wanted].flat().join(', ')]),
  )
  const [headers, setHeaders] = useState<readonly Pair[]>([])
  const create = useAct('event_subscriptions.create', ['event_subscriptions'])
  const update = useAct('event_subscriptions.update', ['event_subscriptions'])
  const rows = types.data?.event_types ?? []
  const row = rows.find((candidate) => candidate.type === type)
  const send = () => {
    const named = (pairs: readonly Pair[]) => pairs.filter(([name, value]) => name.trim() !== '' && value.trim() !== '')
    const filter_config = Object.fromEntries(named(filters).map(([name, value]) => [name, filterValue(row, name, value)]))
    const given = Object.fromEntries(named(headers))
    const terms = { endpoint_url: address.trim(), filter_config, description: description || null }
    if (endpoint)
      update.mutate(
        { subscription_id: endpoint.id, ...terms, ...(Object.keys(given).length > 0 ? { headers: given } : {}) },
        { onSuccess: ({ id }) => onDone(id, null) },
      )
    else
      create.mutate(
        { event_type: type as 'item.created', ...terms, headers: given },
        { onSuccess: ({ id, signing_secret }) => onDone(id, signing_secret) },
      )
  }
  return (
    <Dialog title={endpoint ? 'Edit endpoint' : 'Add endpoint'} onClose={onClose} size={640}>
      <form
        className={classes(ui.flexColumn, ui.gap12)}
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
      >
        <Field
          label="URL"
          type="url"
          required
          data-autofocus
          maxLength={2000}
          placeholder="https://ops.example.org/hooks/imagery"
          value={address}
          onChange={(event) => setAddress(event.target.value)}
          help="A public HTTPS URL."
        />
        {endpoint ? (
          <p className={classes(ui.soft, ui.small)}>
            It is told of <span className={ui.mono}>{endpoint.event_type}</span>; for another event add another endpoint.
          </p>
        ) : (
          <Choice
            label="Event"
            value={type}
            onChange={(event) => setType(event.target.value)}
            options={rows.map((option) => ({ value: option.type, text: `${option.domain}: ${option.type}` }))}
            help={row?.description}
          />
        )}
        <Pairs
          legend="Only where"
          help="All conditions must match. Separate alternative values with commas."
          names={['Field', 'Value']}
          pairs={filters}
          suggestions={fieldsOf(row)}
          onChange={setFilters}
        />
        <Pairs
          legend="Headers"
          help={
            endpoint && endpoint.header_names.length > 0
              ? address.trim() === endpoint.endpoint_url
                ? `Current headers: ${endpoint.header_names.join(', ')}. Headers you enter here replace all of them.`
                : `A new URL drops the stored headers (${endpoint.header_names.join(', ')}). Enter those it needs.`
              : 'For example, an API gateway key. Values are not shown again.'
          }
          names={['Name', 'Value']}
          pairs={headers}
          onChange={setHeaders}
        />
        <Field label="Note" maxLength={2000} value={description} onChange={(event) => setDescription(event.target.value)} />
        {row && <Shape row={row} />}
        <FormProblem error={create.error ?? update.error} />
        <Button type="submit" variant="primary" busy={create.isPending || update.isPending}>
          {endpoint ? 'Save' : 'Add endpoint'}
        </Button>
      </form>
    </Dialog>
  )
}

function Shape({ row }: { row: EventTypeRow }): ReactElement {
  return (
    <details>
      <summary className={ui.small}>Example request</summary>
      <pre className={classes(codeStyles.code, ui.marginTop8, styles.code)} tabIndex={0}>
        {JSON.stringify(exampleOf(row), null, 2)}
      </pre>
    </details>
  )
}

interface PairParts {
  legend: string
  help: string
  names: readonly [string, string]
  pairs: readonly Pair[]
  suggestions?: readonly string[]
  onChange(pairs: readonly Pair[]): void
}

const MAX_PAIRS = 10

function Pairs({ legend, help, names, pairs, suggestions = [], onChange }: PairParts): ReactElement {
  const list = useId()
  const change = (at: number, pair: Pair) => onChange(pairs.with(at, pair))
  return (
    <fieldset className={classes(ui.flexColumn, ui.gap6, styles.pairs)}>
      <legend className={fieldStyles.label}>{legend}</legend>
      {pairs.map(([name, value], at) => (
        <div key={at} className={classes(ui.flexRow, ui.gap6)}>
          <input
            className={classes(fieldStyles.input, ui.grow)}
            list={list}
            aria-label={`${legend}: ${names[0]} ${at + 1}`}
            placeholder={names[0]}
            value={name}
            onChange={(event) => change(at, [event.target.value, value])}
          />
          <input
            className={classes(fieldStyles.input, ui.grow)}
            aria-label={`${legend}: ${names[1]} ${at + 1}`}
            placeholder={names[1]}
            autoComplete="off"
            value={value}
            onChange={(event) => change(at, [name, event.target.value])}
          />
          <Button
            size="s"
            variant="quiet"
            icon="x"
            label="Remove header"
            onClick={() => onChange(pairs.filter((_, index) => index !== at))}
          />
        </div>
      ))}
      <datalist id={list}>
        {suggestions.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <div className={classes(ui.flexRow, ui.gap12)}>
        <Button size="s" icon="plus" disabled={pairs.length >= MAX_PAIRS} onClick={() => onChange([...pairs, ['', '']])}>
          {legend === 'Headers' ? 'Add a header' : 'Add a condition'}
        </Button>
        <span className={classes(fieldStyles.help, ui.grow)}>{help}</span>
      </div>
    </fieldset>
  )
}
