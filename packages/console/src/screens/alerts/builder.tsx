/** A rule as a sentence whose words are controls, what it computes beneath, and beside it what it would have said of what is here. */
import { useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useMemo, useState, type ReactElement } from 'react'
import type { AlertRule } from '../../api/contract.ts'
import { useAct, useOp } from '../../api/query.ts'
import { areaOf } from '../../map/geo.ts'
import { readArea } from '../../map/read-area.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useUrl } from '../../state/url.ts'
import { area as areaText } from '../../ui/format.ts'
import { Badge, Button, Card, Field, LinkButton, Page } from '../../ui/kit.ts'
import { Empty, Failed, FormProblem, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { draftOf, parseMapping, termsOf, type Draft } from './draft.ts'
import { useDraft } from './use-draft.ts'
import { Trial, useSamples } from './trial.tsx'
import { COMPARISONS, QUIET_TIMES, RECIPES, useCollections } from './rule-text.ts'
import { useMayManageAlerts } from '../../state/who.ts'
import { classes } from '../../ui/classes.ts'
import expressionBoxStyles from '../../parts/expression-box.module.css'
import styles from './alerts.module.css'
import cardStyles from '../../ui/card.module.css'
import chipStyles from '../../ui/chip.module.css'
import fieldStyles from '../../ui/field.module.css'
import ui from '../../ui/ui.module.css'

const EMPTY: Draft = {
  name: '',
  description: '',
  collection: '',
  on: 'created',
  expression: '',
  mapping: {},
  comparison: 'gt',
  threshold: '0.1',
  upper: '',
  tell: 'both',
  quiet: '360',
  area: null,
}

export function NewAlert(): ReactElement {
  const [url] = useUrl()
  const recipe = RECIPES.find(({ id }) => id === url['recipe'])
  useTitle({ text: 'Monitor', to: '/alerts' }, 'New alert')
  const base = recipe
    ? { ...EMPTY, name: recipe.title, comparison: recipe.comparison, threshold: String(recipe.threshold) }
    : { ...EMPTY, collection: url['collection'] ?? '' }
  return <Builder key={recipe?.id ?? 'own'} base={base} rule={null} index={recipe?.index ?? 'ndvi'} />
}

export function EditAlert(): ReactElement {
  const { id } = useParams({ from: '/inside/alerts/$id/edit' })
  const ruleQuery = useOp('alerts.rule.get', { rule_id: id }, { staleTime: Infinity })
  const rule = ruleQuery.data?.alert_rule ?? null
  useTitle({ text: 'Monitor', to: '/alerts' }, { text: rule?.name ?? 'Alert', to: `/alerts/${id}` }, 'Change')
  if (ruleQuery.isError) return <Failed error={ruleQuery.error} retry={() => void ruleQuery.refetch()} />
  if (!rule) return <Skeleton rows={6} />
  return <Builder key={id} base={draftOf(rule)} rule={rule} index={null} />
}

interface BuilderParts {
  base: Draft
  rule: AlertRule | null
  /** The index to begin with, where the expression is empty. */
  index: string | null
}

function Builder({ base, rule, index }: BuilderParts): ReactElement {
  const mayWatch = useMayManageAlerts()
  const [draft, set] = useDraft(base)
  const { samples, query } = useSamples(draft.collection)
  const indices = useIndices(samples[0]?.id ?? null)
  const navigate = useNavigate()
  const create = useAct('alerts.create_rule', ['alerts'])
  const update = useAct('alerts.update_rule', ['alerts'])
  const { terms, missing, isComplete } = termsOf(draft)
  const settled = useSettled(terms)
  useEffect(() => {
    const wanted = indices.find(({ id }) => id === index) ?? (index === null ? undefined : indices[0])
    if (draft.expression === '' && wanted) set({ expression: wanted.formula, mapping: wanted.mapping })
    // Only to begin with: afterwards it is what somebody wrote.
    // oxlint-disable-next-line exhaustive-deps
  }, [indices])
  if (!mayWatch)
    return (
      <Page title={rule ? 'Edit alert' : 'New alert'}>
        <Empty icon="lock" tone="warn" title="View-only access" actions={<LinkButton to="/alerts">All alerts</LinkButton>}>
          Ask a project admin to make you an editor.
        </Empty>
      </Page>
    )
  const save = () => {
    const done = ({ alert_rule }: { alert_rule: AlertRule }) => {
      toast(rule ? 'Alert saved' : `${alert_rule.name} is on`)
      void navigate({ to: '/alerts/$id', params: { id: alert_rule.id } })
    }
    if (rule) update.mutate({ rule_id: rule.id, ...terms }, { onSuccess: done })
    else create.mutate(terms, { onSuccess: done })
  }
  return (
    <Page
      title={rule ? 'Edit alert' : 'New alert'}
      about="A rule computes one value for each new item and compares it with a threshold. Test it on existing items first."
      actions={
        <>
          <LinkButton to={rule ? '/alerts/$id' : '/alerts'} params={rule ? { id: rule.id } : {}}>
            Cancel
          </LinkButton>
          <Button
            variant="primary"
            disabled={missing !== null}
            title={missing ? `Enter ${missing}` : undefined}
            busy={create.isPending || update.isPending}
            onClick={save}
          >
            {rule ? 'Save' : 'Switch on'}
          </Button>
        </>
      }
    >
      <div className={classes(ui.grid, ui.halves)}>
        <div className={classes(ui.flexColumn, ui.gap16)}>
          <Sentence draft={draft} set={set} indices={indices} />
          <RuleForm draft={draft} set={set} indices={indices} />
          {missing && <p className={classes(ui.soft, ui.small)}>To switch it on it needs {missing}.</p>}
          <FormProblem error={create.error ?? update.error} />
        </div>
        <div className={classes(ui.flexColumn, ui.gap16)}>
          <Trial
            samples={samples}
            query={query}
            terms={{ ...settled, threshold: terms.threshold, threshold_upper: terms.threshold_upper, comparison: terms.comparison }}
            isComplete={isComplete}
            onThreshold={(threshold) => set({ threshold: String(threshold) })}
          />
        </div>
      </div>
    </Page>
  )
}

const TYPING_MS = 400

/** What costs a look at twelve items changes when somebody has stopped typing. */
function useSettled<T extends { expression: string; band_mapping: object; aoi_geometry: object | null }>(terms: T): T {
  const [settled, setSettled] = useState(terms)
  const key = JSON.stringify([terms.expression, terms.band_mapping, terms.aoi_geometry])
  useEffect(() => {
    const timer = setTimeout(() => setSettled(terms), settled.expression === '' ? 0 : TYPING_MS)
    return () => clearTimeout(timer)
    // oxlint-disable-next-line exhaustive-deps
  }, [key])
  return settled
}

interface Index {
  id: string
  name: string
  formula: string
  mapping: Record<string, number>
}

const FIRST = ['ndvi', 'ndwi', 'evi', 'savi', 'nbr', 'ndbi', 'ndmi', 'ndsi']
const MAX_INDICES = 8

/** Indices that the bands of an item allow, with its bands. */
function useIndices(itemId: string | null): readonly Index[] {
  const bands = useOp('items.detect_asset_bands', { item_id: itemId ?? '' }, { enabled: itemId !== null, staleTime: 300_000 })
  const listed = useOp('analytics.indices.list', {}, { staleTime: 3_600_000 })
  return useMemo(() => {
    const roles = new Map((bands.data?.bands ?? []).flatMap(({ role, index }) => (role ? [[role.toUpperCase(), index] as const] : [])))
    const rank = (id: string) => (FIRST.includes(id) ? FIRST.indexOf(id) : FIRST.length)
    return (listed.data?.indices ?? [])
      .filter(
        ({ required_bands, needs_reflectance }) => !needs_reflectance && required_bands.every((role) => roles.has(role.toUpperCase())),
      )
      .toSorted((a, b) => rank(a.id) - rank(b.id))
      .slice(0, MAX_INDICES)
      .map(({ id, formula, required_bands }) => ({
        id,
        name: id.toUpperCase(),
        formula,
        mapping: Object.fromEntries(required_bands.map((role) => [role, roles.get(role.toUpperCase())!])),
      }))
  }, [bands.data, listed.data])
}

interface PartParts {
  draft: Draft
  set(patch: Partial<Draft>): void
  indices: readonly Index[]
}

function Sentence({ draft, set, indices }: PartParts): ReactElement {
  const collections = useCollections()
  const shown = indices.find(({ formula }) => formula === draft.expression)
  return (
    <div className={cardStyles.card}>
      <fieldset className={classes(cardStyles.body, styles.sentence)}>
        <legend className={ui.screenReaderOnly}>The rule</legend>
        <span>When a</span>
        <Pill
          label="Trigger"
          value={draft.on}
          onChange={(on) => set({ on: on as Draft['on'] })}
          options={[
            { value: 'created', text: 'new item arrives' },
            { value: 'updated', text: 'item changes' },
            { value: 'both', text: 'item arrives or changes' },
          ]}
        />
        <span>in</span>
        <Pill
          label="Collection"
          value={draft.collection}
          onChange={(collection) => set({ collection })}
          options={[
            { value: '', text: 'any collection' },
            ...(collections.data?.collections ?? []).map(({ id, title }) => ({ value: id, text: title })),
          ]}
        />
        <span>and the mean of</span>
        <Pill
          label="Index"
          value={shown?.id ?? ''}
          onChange={(id) => {
            const index = indices.find((candidate) => candidate.id === id)
            if (index) set({ expression: index.formula, mapping: index.mapping })
          }}
          options={[
            ...(shown ? [] : [{ value: '', text: 'the expression' }]),
            ...indices.map(({ id, name }) => ({ value: id, text: name })),
          ]}
        />
        <span>is</span>
        <Pill
          label="Comparison"
          value={draft.comparison}
          onChange={(comparison) => set({ comparison: comparison as Draft['comparison'] })}
          options={COMPARISONS}
        />
        <NumberPill
          label={draft.comparison === 'between' ? 'Lower limit' : 'Threshold'}
          value={draft.threshold}
          onChange={(threshold) => set({ threshold })}
        />
        {draft.comparison === 'between' && (
          <>
            <span>and</span>
            <NumberPill label="Upper limit" value={draft.upper} onChange={(upper) => set({ upper })} />
          </>
        )}
        <span>, notify</span>
        <Pill
          label="Notify"
          value={draft.tell}
          onChange={(tell) => set({ tell: tell as Draft['tell'] })}
          options={[
            { value: 'both', text: 'me and webhooks' },
            { value: 'inbox', text: 'me' },
            { value: 'webhook', text: 'webhooks' },
          ]}
        />
        <span>at most every</span>
        <Pill
          label="Quiet time"
          value={draft.quiet}
          onChange={(quiet) => set({ quiet })}
          options={
            QUIET_TIMES.some(({ value }) => value === draft.quiet)
              ? QUIET_TIMES
              : [...QUIET_TIMES, { value: draft.quiet, text: `${draft.quiet} minutes` }]
          }
        />
      </fieldset>
    </div>
  )
}

interface PillParts {
  label: string
  value: string
  onChange(value: string): void
}

function Pill({ label, value, onChange, options }: PillParts & { options: readonly { value: string; text: string }[] }): ReactElement {
  return (
    <select className={styles.pill} aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.text}
        </option>
      ))}
    </select>
  )
}

const NumberPill = ({ label, value, onChange }: PillParts) => (
  <input
    className={classes(styles.pill, ui.numeric)}
    aria-label={label}
    inputMode="decimal"
    value={value}
    aria-invalid={value.trim() === '' || !Number.isFinite(Number(value))}
    onChange={(event) => onChange(event.target.value)}
  />
)

function RuleForm({ draft, set, indices }: PartParts): ReactElement {
  const check = useOp('analytics.validate_formula', { formula: draft.expression }, { enabled: draft.expression.trim() !== '', keep: true })
  const isOwn = check.data?.formula === draft.expression
  return (
    <Card title="Rule">
      <div className={classes(ui.flexColumn, ui.gap16)}>
        <Field
          label="Name"
          maxLength={200}
          value={draft.name}
          onChange={(event) => set({ name: event.target.value })}
          help="Shown in notifications."
        />
        <div>
          <label className={fieldStyles.label} htmlFor="alert-expression">
            Expression <span className={ui.soft}>band math over names or b1, b2, …</span>
          </label>
          <div className={expressionBoxStyles.expressionBox}>
            <input
              id="alert-expression"
              spellCheck={false}
              autoCapitalize="off"
              value={draft.expression}
              aria-invalid={isOwn && !check.data!.valid}
              aria-describedby="alert-expression-state"
              onChange={(event) => set({ expression: event.target.value })}
            />
            <span id="alert-expression-state">
              {isOwn &&
                (check.data!.valid ? (
                  <Badge tone="ok">
                    <span>
                      valid<span className={ui.hideOnPhone}>{`, reads ${check.data!.required_bands.join(' and ')}`}</span>
                    </span>
                  </Badge>
                ) : (
                  <Badge tone="bad">invalid</Badge>
                ))}
            </span>
          </div>
          {isOwn && check.data!.error && (
            <p className={fieldStyles.error} role="alert">
              {check.data!.error}
            </p>
          )}
          <div className={classes(ui.flexRow, ui.wrap, ui.gap4, ui.marginTop8)} role="group" aria-label="Indices">
            {indices.map(({ id, name, formula, mapping }) => (
              <button
                key={id}
                type="button"
                className={formula === draft.expression ? classes(chipStyles.chip, chipStyles.selected) : chipStyles.chip}
                aria-pressed={formula === draft.expression}
                onClick={() => set({ expression: formula, mapping })}
              >
                {name}
              </button>
            ))}
          </div>
        </div>
        <MappingField mapping={draft.mapping} onChange={(mapping) => set({ mapping })} />
        <AreaField area={draft.area} onChange={(area) => set({ area })} />
        <Field
          label="Note"
          maxLength={2000}
          value={draft.description}
          onChange={(event) => set({ description: event.target.value })}
          help="For your team: why you watch this, and what to do when it triggers."
        />
        {draft.tell !== 'inbox' && <WebhookHint />}
      </div>
    </Card>
  )
}

function MappingField({ mapping, onChange }: { mapping: Draft['mapping']; onChange(mapping: Record<string, number>): void }): ReactElement {
  const shown = Object.entries(mapping)
    .map(([name, band]) => `${name} = b${band}`)
    .join(', ')
  const [text, setText] = useState(shown)
  useEffect(() => setText(shown), [shown])
  return (
    <Field
      label="Band names"
      className={fieldStyles.monoField}
      placeholder="NIR = b4, RED = b3"
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => onChange(parseMapping(text))}
      help="The band number for each name in the expression. Not needed for names that the file defines."
    />
  )
}

/** Pasted or typed; an item's footprint is the whole of it. */
function AreaField({ area, onChange }: { area: GeoJSON.Polygon | null; onChange(area: GeoJSON.Polygon | null): void }): ReactElement {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const read = async (given: string) => {
    setText(given)
    if (given.trim() === '') return setProblem(null)
    const area = await readArea(given).catch(() => null)
    if (area?.kind !== 'area') return setProblem('Not an area. Paste one polygon as GeoJSON, WKT or KML.')
    setProblem(null)
    setText('')
    onChange(area.geometry)
  }
  if (area)
    return (
      <div className={fieldStyles.field}>
        <span className={fieldStyles.label}>Limit to area</span>
        <div className={classes(ui.flexRow, ui.between)}>
          <span>
            an area of {areaText(areaOf(area))} with {area.coordinates[0]!.length - 1} corners
          </span>
          <Button size="s" onClick={() => onChange(null)}>
            The whole item
          </Button>
        </div>
      </div>
    )
  return (
    <Field
      label="Limit to area"
      placeholder="Whole item, or paste GeoJSON, WKT or KML"
      value={text}
      error={problem ?? undefined}
      onChange={(event) => void read(event.target.value)}
    />
  )
}

function WebhookHint(): ReactElement | null {
  const hooks = useOp('event_subscriptions.list', { event_type: 'alert.triggered' })
  if (!hooks.data) return null
  const active = hooks.data.event_subscriptions.filter(({ is_active }) => is_active)
  return (
    <p className={fieldStyles.help}>
      {active.length > 0 ? (
        <>
          {active.length === 1 ? 'One endpoint is' : `${active.length} endpoints are`} subscribed to{' '}
          <span className={ui.mono}>alert.triggered</span>.
        </>
      ) : (
        <>
          No endpoint is subscribed to <span className={ui.mono}>alert.triggered</span> yet.{' '}
          <a href="/app/develop/webhooks?new=alert.triggered">Add one</a>
        </>
      )}
    </p>
  )
}
