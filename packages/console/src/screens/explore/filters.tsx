/** Filters as chips: each shows its value, opens a small form, and resets. */
import type { ReactElement, ReactNode } from 'react'
import type { CatalogSource, CatalogVendor } from '../../api/contract.ts'
import type { UrlPatch } from '../../state/url.ts'
import { SENSORS, type Sensor } from '../../state/scene.ts'
import { SimulatedBadge } from '../../parts/simulated-badge.tsx'
import { dateShort } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Button, Check, Field } from '../../ui/kit.ts'
import { Popover } from '../../ui/popover.tsx'
import { sensorsOf } from './list-filters.ts'
import { isUnreachable, unreachableText } from './source-status.ts'
import { classes } from '../../ui/classes.ts'
import styles from './explore.module.css'
import chipStyles from '../../ui/chip.module.css'
import ui from '../../ui/ui.module.css'

interface ChipParts {
  text: string
  isOn: boolean
  onReset(): void
  children: ReactNode
}

function Chip({ text, isOn, onReset, children }: ChipParts): ReactElement {
  return (
    <Popover
      label={`Filter: ${text}`}
      button={(trigger) => (
        <button {...trigger} type="button" className={classes(chipStyles.chip, isOn && chipStyles.selected)}>
          {text}
          <Icon name="chev" />
        </button>
      )}
    >
      {(hide) => (
        <div className={classes(ui.flexColumn, ui.gap12, styles.chipForm)}>
          {children}
          <div className={classes(ui.flexRow, ui.between)}>
            <Button size="s" variant="quiet" onClick={onReset} disabled={!isOn}>
              Reset
            </Button>
            <Button size="s" variant="primary" onClick={hide}>
              Done
            </Button>
          </div>
        </div>
      )}
    </Popover>
  )
}

interface FilterParts {
  url: Readonly<Record<string, string>>
  setUrl(patch: UrlPatch): void
  vendors: readonly CatalogVendor[]
  sources: readonly CatalogSource[]
  withSources: boolean
  /** There is an area to cover. */
  hasArea: boolean
}

export function FilterChips({ url, setUrl, vendors, sources: states, withSources, hasArea }: FilterParts): ReactElement {
  const { from = '', to = '', cloud = '', gsd = '', sources = '' } = url
  const chosen = sources ? sources.split('.') : null
  const toggle = (host: string, on: boolean) => {
    const now = chosen ?? vendors.map(({ host_name }) => host_name)
    const next = on ? [...now, host] : now.filter((chosen) => chosen !== host)
    setUrl({ sources: next.length === 0 || next.length === vendors.length ? null : next.join('.') })
  }
  return (
    <div className={classes(ui.flexRow, ui.gap6, ui.wrap, styles.chips)}>
      <Chip
        text={from || to ? `${from ? dateShort(from) : 'Any'} to ${to ? dateShort(to) : 'now'}` : 'Any date'}
        isOn={Boolean(from || to)}
        onReset={() => setUrl({ from: null, to: null })}
      >
        <Field label="From" type="date" value={from} onChange={(event) => setUrl({ from: event.target.value || null })} />
        <Field label="To" type="date" value={to} onChange={(event) => setUrl({ to: event.target.value || null })} />
      </Chip>
      <Chip text={cloud ? `Cloud ≤ ${cloud}%` : 'Any cloud cover'} isOn={cloud !== ''} onReset={() => setUrl({ cloud: null })}>
        <Field
          label={`At most ${cloud || 100}% cloud`}
          type="range"
          min={0}
          max={100}
          step={5}
          value={cloud || '100'}
          onChange={(event) => setUrl({ cloud: event.target.value === '100' ? null : event.target.value })}
        />
      </Chip>
      {hasArea && <CoverageChip cover={url['cover'] ?? ''} setUrl={setUrl} />}
      {withSources && (
        <>
          <Chip text={gsd ? `≤ ${gsd} m` : 'Any resolution'} isOn={gsd !== ''} onReset={() => setUrl({ gsd: null })}>
            <Field
              label="Maximum resolution (m/px)"
              type="number"
              min={0.1}
              step={0.1}
              value={gsd}
              onChange={(event) => setUrl({ gsd: event.target.value || null })}
            />
          </Chip>
          <LimitChip
            name="angle"
            text="Any angle"
            label="Maximum off-nadir angle (°)"
            limit={(value) => `≤ ${value}°`}
            value={url['angle'] ?? ''}
            setUrl={setUrl}
          />
          <LimitChip
            name="price"
            text="Any price"
            label="Maximum price (A$)"
            limit={(value) => `≤ A$${value}`}
            value={url['price'] ?? ''}
            setUrl={setUrl}
          />
          <SensorChip sensors={url['sensors']} setUrl={setUrl} />
          <Chip
            text={chosen ? `Sources ${chosen.length} of ${vendors.length}` : `Sources ${vendors.length}`}
            isOn={chosen !== null}
            onReset={() => setUrl({ sources: null })}
          >
            <div className={classes(ui.flexColumn, ui.gap6)}>
              {realFirst(vendors).map((vendor) => (
                <SourceCheck
                  key={vendor.host_name}
                  vendor={vendor}
                  state={states.find(({ host_name }) => host_name === vendor.host_name)}
                  checked={chosen === null || chosen.includes(vendor.host_name)}
                  onChange={(on) => toggle(vendor.host_name, on)}
                />
              ))}
            </div>
          </Chip>
        </>
      )}
    </div>
  )
}

function CoverageChip({ cover, setUrl }: { cover: string; setUrl: FilterParts['setUrl'] }): ReactElement {
  return (
    <Chip text={cover ? `Covers ≥ ${cover}%` : 'Any coverage'} isOn={cover !== ''} onReset={() => setUrl({ cover: null })}>
      <Field
        label={`Covers at least ${cover || 0}% of the area`}
        type="range"
        min={0}
        max={100}
        step={5}
        value={cover || '0'}
        onChange={(event) => setUrl({ cover: event.target.value === '0' ? null : event.target.value })}
      />
    </Chip>
  )
}

interface LimitParts {
  name: 'angle' | 'price'
  /** Without a limit. */
  text: string
  label: string
  limit(value: string): string
  value: string
  setUrl: FilterParts['setUrl']
}

const LimitChip = ({ name, text, label, limit, value, setUrl }: LimitParts): ReactElement => (
  <Chip text={value ? limit(value) : text} isOn={value !== ''} onReset={() => setUrl({ [name]: null })}>
    <Field
      label={label}
      type="number"
      min={0}
      step={1}
      value={value}
      onChange={(event) => setUrl({ [name]: event.target.value || null })}
    />
  </Chip>
)

const SENSOR_NAMES: Readonly<Record<Sensor, string>> = {
  optical: 'Optical',
  radar: 'Radar',
  elevation: 'Elevation',
  altimetry: 'Altimetry',
  pointcloud: 'Point clouds',
  vector: 'Vector data',
}

interface SensorParts {
  sensors: string | undefined
  setUrl: FilterParts['setUrl']
}

function SensorChip({ sensors, setUrl }: SensorParts): ReactElement {
  const chosen = sensorsOf(sensors)
  const toggle = (sensor: Sensor, on: boolean) => {
    const next = SENSORS.filter((other) => (other === sensor ? on : (chosen ?? SENSORS).includes(other)))
    setUrl({ sensors: next.length === 0 || next.length === SENSORS.length ? null : next.join('.') })
  }
  const text = chosen === null ? 'Any sensor' : chosen.map((sensor) => SENSOR_NAMES[sensor]).join(', ')
  return (
    <Chip
      text={chosen !== null && chosen.length > 2 ? `Sensors ${chosen.length} of ${SENSORS.length}` : text}
      isOn={chosen !== null}
      onReset={() => setUrl({ sensors: null })}
    >
      <div className={classes(ui.flexColumn, ui.gap6)}>
        {SENSORS.map((sensor) => (
          <Check key={sensor} checked={chosen === null || chosen.includes(sensor)} onChange={(on) => toggle(sensor, on)}>
            {SENSOR_NAMES[sensor]}
          </Check>
        ))}
      </div>
    </Chip>
  )
}

const realFirst = (vendors: readonly CatalogVendor[]) => vendors.toSorted((a, b) => Number(a.simulated) - Number(b.simulated))

interface SourceCheckParts {
  vendor: CatalogVendor
  state: CatalogSource | undefined
  checked: boolean
  onChange(on: boolean): void
}

function SourceCheck({ vendor: { title, is_priced, simulated }, state, checked, onChange }: SourceCheckParts): ReactElement {
  return (
    <Check checked={checked} onChange={onChange}>
      {title} <span className={ui.soft}>{is_priced ? 'for sale' : 'open data'}</span> {simulated && <SimulatedBadge />}
      {state && isUnreachable(state) && (
        <span className={classes(ui.block, ui.small, ui.warning)}>
          {capitalize(unreachableText(state, new Date()))}
          {state.status_error ? `: ${state.status_error}` : ''}
        </span>
      )}
    </Check>
  )
}

const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
