/** Filters as chips: each shows its value, opens a small form, and resets. */
import { Popover } from '@mantine/core'
import { useState, type ReactElement, type ReactNode } from 'react'
import type { CatalogVendor } from '../../api/contract.ts'
import type { UrlPatch } from '../../state/url.ts'
import { dateShort } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Button, Check, Field } from '../../ui/kit.ts'
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
  const [open, setOpen] = useState(false)
  return (
    <Popover opened={open} onChange={setOpen} position="bottom-start" trapFocus returnFocus transitionProps={{ duration: 120 }}>
      <Popover.Target>
        <button
          type="button"
          className={isOn ? classes(chipStyles.chip, chipStyles.selected) : chipStyles.chip}
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          {text}
          <Icon name="chev" />
        </button>
      </Popover.Target>
      <Popover.Dropdown>
        <div className={classes(ui.flexColumn, ui.gap12, styles.chipForm)}>
          {children}
          <div className={classes(ui.flexRow, ui.between)}>
            <Button size="s" variant="quiet" onClick={onReset} disabled={!isOn}>
              Reset
            </Button>
            <Button size="s" variant="primary" onClick={() => setOpen(false)}>
              Done
            </Button>
          </div>
        </div>
      </Popover.Dropdown>
    </Popover>
  )
}

interface FilterParts {
  url: Readonly<Record<string, string>>
  setUrl(patch: UrlPatch): void
  vendors: readonly CatalogVendor[]
  withSources: boolean
}

export function FilterChips({ url, setUrl, vendors, withSources }: FilterParts): ReactElement {
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
          <Chip
            text={chosen ? `Sources ${chosen.length} of ${vendors.length}` : `Sources ${vendors.length}`}
            isOn={chosen !== null}
            onReset={() => setUrl({ sources: null })}
          >
            <div className={classes(ui.flexColumn, ui.gap6)}>
              {vendors.map(({ host_name, title, is_priced }) => (
                <Check key={host_name} checked={chosen === null || chosen.includes(host_name)} onChange={(on) => toggle(host_name, on)}>
                  {title} <span className={ui.soft}>{is_priced ? 'for sale' : 'open data'}</span>
                </Check>
              ))}
            </div>
          </Chip>
        </>
      )}
    </div>
  )
}
