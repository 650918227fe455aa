/** Saves the current search, and lists the saved ones. */
import type { AreaShape } from '../../map/geo.ts'
import { useState, type ReactElement } from 'react'
import type { CatalogSource, SavedSearch } from '../../api/contract.ts'
import { useOp } from '../../api/query.ts'
import { deleteLater } from '../../state/delete-later.ts'
import type { UrlPatch } from '../../state/url.ts'
import { useWritableProjects } from '../../state/who.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { dateTimeShort, plural } from '../../ui/format.ts'
import { Badge, Button } from '../../ui/kit.ts'
import { Empty, Loaded } from '../../ui/states.tsx'
import { classes } from '../../ui/classes.ts'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'
import { EditSearch, SaveSearch } from './save-search.tsx'
import { urlOfSearch } from './saved-search.ts'
import type { Filters } from './scenes.ts'

interface SavedSearchesParts {
  filters: Filters
  sources: readonly CatalogSource[]
  /** Null if the search has no valid area. */
  area: AreaShape | null
  url: Readonly<Record<string, string | undefined>>
  setUrl(patch: UrlPatch, push?: boolean): void
}

export function SavedSearches({ filters, sources, area, url, setUrl }: SavedSearchesParts): ReactElement {
  const [dialog, setDialog] = useState<'save' | 'list' | null>(null)
  const { writable } = useWritableProjects()
  return (
    <div className={classes(ui.flexRow, ui.gap6)}>
      {area && writable.length > 0 && (
        <Button size="s" icon="plus" onClick={() => setDialog('save')}>
          Save this search
        </Button>
      )}
      <Button size="s" variant="quiet" onClick={() => setDialog('list')}>
        Saved searches
      </Button>
      {dialog === 'save' && area && <SaveSearch {...{ filters, area, sources, url }} onClose={() => setDialog(null)} />}
      {dialog === 'list' && (
        <SearchList
          onClose={() => setDialog(null)}
          onOpen={(search) => {
            setUrl(urlOfSearch(search, sources), true)
            setDialog(null)
          }}
        />
      )}
    </div>
  )
}

interface SearchListParts {
  onOpen(search: SavedSearch): void
  onClose(): void
}

function SearchList({ onOpen, onClose }: SearchListParts): ReactElement {
  const list = useOp('saved_searches.list', {})
  const { writable } = useWritableProjects()
  const [edited, setEdited] = useState<SavedSearch | null>(null)
  if (edited) return <EditSearch search={edited} onClose={() => setEdited(null)} />
  return (
    <Dialog title="Saved searches" onClose={onClose} size={620}>
      <Loaded
        query={list}
        rows={3}
        empty={({ count }) =>
          count === 0 && (
            <Empty icon="search" title="No saved searches yet">
              Choose an area and filters, then save the search. New scenes can be added to your library automatically.
            </Empty>
          )
        }
      >
        {({ saved_searches }) => (
          <ul>
            {saved_searches.map((search) => (
              <SearchRow
                key={search.id}
                search={search}
                mayWrite={writable.some(({ id }) => id === search.project_id)}
                onOpen={() => onOpen(search)}
                onEdit={() => setEdited(search)}
              />
            ))}
          </ul>
        )}
      </Loaded>
    </Dialog>
  )
}

interface SearchRowParts {
  search: SavedSearch
  mayWrite: boolean
  onOpen(): void
  onEdit(): void
}

function SearchRow({ search, mayWrite, onOpen, onEdit }: SearchRowParts): ReactElement {
  const { id, name, auto_add, active, added_count, last_run_at, last_error } = search
  const isReporting = auto_add?.mode === 'notify'
  const remove = () =>
    deleteLater({ operation: 'saved_searches.delete', input: { saved_search_id: id }, name, touches: ['saved_searches'] })
  return (
    <li className={listStyles.withActions}>
      <div className={ui.grow}>
        <div className={classes(ui.flexRow, ui.gap6)}>
          <b className={ui.ellipsis}>{name}</b>
          {auto_add && (
            <Badge tone={active ? 'ok' : 'warn'}>{active ? (isReporting ? 'Reports new scenes' : 'Adds new scenes') : 'Paused'}</Badge>
          )}
        </div>
        <div className={classes(ui.soft, ui.small)}>
          {plural(added_count, 'scene')} {isReporting ? 'reported' : 'added'}
          {last_run_at ? `, last run ${dateTimeShort(last_run_at)} UTC` : ''}
        </div>
        {last_error && <div className={classes(ui.warning, ui.small)}>{last_error}</div>}
      </div>
      <Button size="s" onClick={onOpen}>
        Show results
      </Button>
      {mayWrite && (
        <>
          <Button size="s" variant="quiet" label={`Edit ${name}`} onClick={onEdit}>
            Edit
          </Button>
          <Button size="s" variant="quiet" icon="trash" label={`Delete ${name}`} onClick={remove} />
        </>
      )}
    </li>
  )
}
