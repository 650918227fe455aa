/** Actions on the selected items. */
import { useQueryClient } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { call } from '../../api/client.ts'
import type { Collection, Item } from '../../api/contract.ts'
import { touch } from '../../api/query.ts'
import { plural } from '../../ui/format.ts'
import { Button, Choice, LinkButton } from '../../ui/kit.ts'
import { toast } from '../../ui/toasts.tsx'
import { deleteItem } from '../../state/delete-later.ts'
import { classes } from '../../ui/classes.ts'
import styles from './selection-bar.module.css'
import ui from '../../ui/ui.module.css'

interface SelectionParts {
  chosen: readonly Item[]
  collections: readonly Collection[]
  canWrite: boolean
  onShare(id: string): void
  onClear(): void
}

export function SelectionBar({ chosen, collections, canWrite, onShare, onClear }: SelectionParts): ReactElement {
  const client = useQueryClient()
  const move = async (to: string) => {
    await Promise.all(chosen.map(({ id }) => call('items.update', { item_id: id, collection_id: to || null })))
    await touch(client, ['items', 'collections'])
    toast(`Moved ${plural(chosen.length, 'item')}`)
    onClear()
  }
  return (
    <div className={classes(styles.selectionBar, ui.flexRow, ui.wrap)}>
      <b>{chosen.length} selected</b>
      <Button size="s" variant="quiet" onClick={onClear}>
        Clear selection
      </Button>
      <span className={ui.grow} />
      {chosen.length === 2 && (
        <LinkButton size="s" icon="swipe" to="/compare" search={{ a: chosen[0]!.id, b: chosen[1]!.id }}>
          Compare
        </LinkButton>
      )}
      {canWrite && (
        <>
          <Choice
            label="Move to"
            hideLabel
            value=""
            onChange={(event) => void move(event.target.value).catch((error: unknown) => toast(String(error), 'bad'))}
            options={[{ value: '', text: 'Move to…', disabled: true }, ...collections.map(({ id, name }) => ({ value: id, text: name }))]}
          />
          {chosen.length === 1 && (
            <Button size="s" icon="share" onClick={() => onShare(chosen[0]!.id)}>
              Share
            </Button>
          )}
          <Button
            size="s"
            variant="danger"
            icon="trash"
            onClick={() => {
              for (const item of chosen) deleteItem(item, onClear)
            }}
          >
            Delete items
          </Button>
        </>
      )}
    </div>
  )
}
