/** Addresses of an item for other programs, ready to be copied. Which program stands in the address: `?use=leaflet`. */
import { Link } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import type { Item } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Button, copyText, Field, Segmented } from '../../ui/kit.ts'
import { toolsFor } from './addresses.ts'
import { classes } from '../../ui/classes.ts'
import styles from './viewer.module.css'
import codeStyles from '../../ui/code.module.css'
import fieldStyles from '../../ui/field.module.css'
import ui from '../../ui/ui.module.css'

const PLACEHOLDER = 'YOUR_KEY'
/** What the service draws to where it has not said otherwise. */
const USUAL_MAXZOOM = 14

interface UseInParts {
  item: Item
  /** The program that is shown. */
  use: string
  /** Id of the look on the map; null where it is the item's own, or changed by hand. */
  profile: string | null
  onUse(use: string | null): void
}

export function UseIn({ item, use, profile, onUse }: UseInParts): ReactElement {
  const [key, setKey] = useState('')
  const document = useOp('items.tile.tilejson', { item_id: item.id }, { staleTime: 300_000 })
  const base = document.data?.tiles[0]?.split('/api/v1/')[0] ?? location.origin
  const maxzoom = document.data?.maxzoom ?? USUAL_MAXZOOM
  const tools = toolsFor({ base, itemId: item.id, key: encodeURIComponent(key.trim()) || PLACEHOLDER, profile, maxzoom })
  const tool = tools.find(({ id }) => id === use) ?? tools[0]!
  return (
    <Dialog title={`Use “${item.name}” in…`} onClose={() => onUse(null)} size={640}>
      <div className={classes(ui.flexColumn, ui.gap16, styles.useIn)}>
        <Segmented
          label="Program"
          value={tool.id}
          onChange={onUse}
          options={tools.map(({ id, name }) => ({ value: id, text: name }))}
          wide
        />
        <p className={ui.soft}>{tool.how}</p>
        {tool.lines.map(({ name, text }) => (
          <div key={name}>
            <div className={classes(ui.flexRow, ui.between)}>
              <b className={ui.small}>{name}</b>
              <Button icon="copy" size="s" label={`Copy ${name} for ${tool.name}`} onClick={() => void copyText(text)} />
            </div>
            <pre className={codeStyles.code} tabIndex={0} aria-label={`${name} for ${tool.name}`}>
              {text}
            </pre>
          </div>
        ))}
        <Field
          label="Key"
          className={fieldStyles.monoField}
          placeholder={PLACEHOLDER}
          autoComplete="off"
          spellCheck={false}
          value={key}
          onChange={(event) => setKey(event.target.value)}
          help="Paste one to have it written into the addresses. It stays in this tab. Use a separate read-only key for maps."
        />
        <p className={classes(ui.flexRow, ui.gap12, ui.wrap)}>
          <Link to="/develop/keys">Create a key</Link>
          <a href="/docs/guides/maps" target="_blank" rel="noreferrer">
            Guide to maps
          </a>
        </p>
      </div>
    </Dialog>
  )
}
