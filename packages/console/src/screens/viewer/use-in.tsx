/** URLs of an item for other map clients, ready to copy. The address says which client: `?use=leaflet`. */
import { Link } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import type { Item } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Button, copyText, Field, Segmented } from '../../ui/kit.ts'
import { mapClientsFor } from './map-clients.ts'
import { classes } from '../../ui/classes.ts'
import styles from './use-in.module.css'
import codeStyles from '../../ui/code.module.css'
import fieldStyles from '../../ui/field.module.css'
import ui from '../../ui/ui.module.css'

const PLACEHOLDER = 'YOUR_KEY'
/** Until the service has said how far it draws. */
const DEFAULT_MAXZOOM = 14

interface UseInParts {
  item: Item
  /** Id of the client that is shown. */
  use: string
  /** Id of the style on the map; null for the default style, and for one that is not saved. */
  profile: string | null
  onUse(use: string): void
  onClose(): void
}

export function UseIn({ item, use, profile, onUse, onClose }: UseInParts): ReactElement {
  const [key, setKey] = useState('')
  const document = useOp('items.tile.tilejson', { item_id: item.id }, { staleTime: 300_000 })
  const base = document.data?.tiles[0]?.split('/api/v1/')[0] ?? location.origin
  const maxzoom = document.data?.maxzoom ?? DEFAULT_MAXZOOM
  const clients = mapClientsFor({ base, itemId: item.id, key: encodeURIComponent(key.trim()) || PLACEHOLDER, profile, maxzoom })
  const client = clients.find(({ id }) => id === use) ?? clients[0]!
  return (
    <Dialog title={`Use “${item.name}” in…`} onClose={onClose} size={640}>
      <div className={classes(ui.flexColumn, ui.gap16)}>
        <div className={styles.clients}>
          <Segmented
            label="Map client"
            value={client.id}
            onChange={onUse}
            options={clients.map(({ id, name }) => ({ value: id, text: name }))}
            wide
          />
        </div>
        <p className={ui.soft}>{client.instructions}</p>
        {client.snippets.map(({ name, text }) => (
          <div key={name}>
            <div className={classes(ui.flexRow, ui.between)}>
              <b className={ui.small}>{name}</b>
              <Button icon="copy" size="s" label={`Copy ${name} for ${client.name}`} onClick={() => void copyText(text)} />
            </div>
            <pre className={classes(codeStyles.code, styles.snippet)} tabIndex={0} aria-label={`${name} for ${client.name}`}>
              {text}
            </pre>
          </div>
        ))}
        <Field
          label="API key"
          className={fieldStyles.monoField}
          placeholder={PLACEHOLDER}
          autoComplete="off"
          spellCheck={false}
          value={key}
          onChange={(event) => setKey(event.target.value)}
          help="Paste a key to include it in the URLs. It stays in this tab. Use a separate read-only key for maps."
        />
        <p className={classes(ui.flexRow, ui.gap12, ui.wrap)}>
          <Link to="/develop/keys">Create key</Link>
          <a href="/docs/guides/maps" target="_blank" rel="noreferrer">
            Maps guide
          </a>
        </p>
      </div>
    </Dialog>
  )
}
