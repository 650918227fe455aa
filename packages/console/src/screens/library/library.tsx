/** The items of the organization, by project and collection. */
import { Navigate, useParams } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import type { Collection, Item, Project } from '../../api/contract.ts'
import { useOp, usePages } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { ITEM_TYPES } from '../../state/item-type.ts'
import { useUrl } from '../../state/url.ts'
import { mayWrite, useProjects, useWho } from '../../state/who.ts'
import { plural } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Button, Choice, LinkButton, Segmented } from '../../ui/kit.ts'
import { Empty, Failed, Loaded, More, Skeleton } from '../../ui/states.tsx'
import { CollectionPanel } from './collection-panel.tsx'
import { ItemGrid, ItemsMap, ItemTable } from './items.tsx'
import { SelectionBar } from './selection-bar.tsx'
import { NewProject } from '../../parts/project-dialogs.tsx'
import { ShareDialog } from '../../parts/share.ts'
import { classes } from '../../ui/classes.ts'
import styles from './library.module.css'
import fieldStyles from '../../ui/field.module.css'
import ui from '../../ui/ui.module.css'

const PAGE_SIZE = 60

export function Library(): ReactElement {
  const { project: id } = useParams({ strict: false })
  const projects = useProjects()
  const [dialog, setDialog] = useState(false)
  const isShown = projects.data?.projects.some((project) => project.id === id) ?? false
  useTitle(...(isShown ? [] : ['Library']))
  if (projects.isError && !projects.data) return <Failed error={projects.error} retry={() => void projects.refetch()} />
  if (!projects.data) return <Skeleton />
  const list = projects.data.projects
  if (list.length === 0)
    return (
      <>
        <h1 className={ui.screenReaderOnly}>Library</h1>
        <Empty
          icon="folder"
          title="No project yet"
          actions={
            <Button variant="primary" onClick={() => setDialog(true)}>
              Create project
            </Button>
          }
        >
          A project holds items, members and storage.
        </Empty>
        {dialog && <NewProject onClose={() => setDialog(false)} />}
      </>
    )
  // The user may have left this screen while the list was loading.
  if (!id && !/\/library\/?$/.test(location.pathname)) return <Skeleton />
  if (!id)
    return <Navigate to="/library/$project" params={{ project: (list.find(({ item_count }) => item_count > 0) ?? list[0]!).id }} replace />
  const project = list.find((candidate) => candidate.id === id)
  if (!project)
    return (
      <Empty icon="folder" title="Not found, or you don't have access" actions={<LinkButton to="/library">Your projects</LinkButton>}>
        This project may be private or deleted.
      </Empty>
    )
  return <ProjectView key={id} project={project} projects={list} />
}

const TYPES = [{ value: '', text: 'All types' }, ...ITEM_TYPES]
type View = 'grid' | 'table' | 'map'
const viewOf = (url: Readonly<Record<string, string>>) => (url['view'] ?? 'grid') as View

/** The items that the address selects by collection, name and type. */
function useItems(projectId: string, collectionId: string | undefined) {
  const [url] = useUrl()
  const within = collectionId === 'loose' ? { uncollected: true } : collectionId ? { collection_id: collectionId } : {}
  const q = url['q']?.trim()
  return usePages(
    'items.list',
    { project_id: projectId, ...within, ...(q ? { q } : {}), ...(url['type'] ? { type: url['type'] as Item['type'] } : {}) },
    { size: PAGE_SIZE, key: 'id', rows: ({ items }) => items },
  )
}

function ProjectView({ project, projects }: { project: Project; projects: readonly Project[] }): ReactElement {
  const { collection: collectionId } = useParams({ strict: false })
  const who = useWho()
  const [url] = useUrl()
  const collections = useOp('collections.list', { project_id: project.id })
  const items = useItems(project.id, collectionId)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [shareId, setShareId] = useState<string | null>(null)
  const canWrite = mayWrite(who, project)
  const collection = collections.data?.find(({ id }) => id === collectionId)
  useTitle(
    { text: 'Library', to: '/library' },
    ...(collection ? [{ text: project.name, to: `/library/${project.id}` }, collection.name] : [project.name]),
  )
  const shown = items.query.data?.rows ?? []
  const view = viewOf(url)
  const toggle = (id: string) =>
    setChosen((before) => (before.has(id) ? new Set([...before].filter((chosenId) => chosenId !== id)) : new Set([...before, id])))
  const shared = shown.find(({ id }) => id === shareId)
  return (
    <div className={styles.library}>
      <h1 className={ui.screenReaderOnly} tabIndex={-1}>
        {project.name}
      </h1>
      <CollectionPanel {...{ project, projects, collectionId, canWrite }} collections={collections.data ?? []} />
      <section className={styles.main} aria-label="Items">
        <ItemBar project={project} collection={collection} canWrite={canWrite} total={items.query.data?.first.total} />
        {project.is_archived && <p className={classes(styles.archivedBar, ui.warning)}>This project is archived and read-only.</p>}
        {chosen.size > 0 && (
          <SelectionBar
            chosen={shown.filter(({ id }) => chosen.has(id))}
            collections={collections.data ?? []}
            canWrite={canWrite}
            onShare={setShareId}
            onClear={() => setChosen(new Set())}
          />
        )}
        <Loaded
          query={items.query}
          rows={6}
          empty={({ rows }) =>
            rows.length === 0 && <NoItems isFiltered={Boolean(url['q'] || url['type'])} canWrite={canWrite} projectId={project.id} />
          }
        >
          {({ rows }) =>
            view === 'map' ? (
              <ItemsMap items={rows} collections={collections.data ?? []} />
            ) : view === 'table' ? (
              <ItemTable items={rows} chosen={chosen} onToggle={toggle} />
            ) : (
              <ItemGrid items={rows} chosen={chosen} onToggle={toggle} />
            )
          }
        </Loaded>
        <More pages={items} className={classes(ui.flexRow, ui.center)} />
      </section>
      {shared && <ShareDialog type="item" id={shared.id} name={shared.name} mayWrite={canWrite} onClose={() => setShareId(null)} />}
    </div>
  )
}

interface BarParts {
  project: Project
  collection: Collection | undefined
  canWrite: boolean
  total: number | undefined
}

function ItemBar({ project, collection, canWrite, total }: BarParts): ReactElement {
  const [url, setUrl] = useUrl()
  return (
    <div className={classes(styles.toolbar, ui.flexRow, ui.wrap)}>
      <label className={classes(fieldStyles.input, styles.search)}>
        <Icon name="search" />
        <span className={ui.screenReaderOnly}>Name or ID</span>
        <input
          placeholder="Name or ID"
          maxLength={200}
          value={url['q'] ?? ''}
          onChange={(event) => setUrl({ q: event.target.value || null })}
        />
      </label>
      <Choice
        label="Type"
        hideLabel
        className={styles.typeChoice}
        value={url['type'] ?? ''}
        onChange={(event) => setUrl({ type: event.target.value || null })}
        options={TYPES}
      />
      <span className={ui.grow} />
      <span className={classes(ui.soft, ui.hideOnPhone)}>{total === undefined ? '' : plural(total, 'item')}</span>
      <Segmented
        label="View"
        value={viewOf(url)}
        onChange={(next) => setUrl({ view: next === 'grid' ? null : next }, true)}
        options={[
          { value: 'table', text: 'Table' },
          { value: 'grid', text: 'Grid' },
          { value: 'map', text: 'Map' },
        ]}
      />
      <LinkButton icon="down" label="Create project report" to="/reports" search={{ project: project.id }} />
      {canWrite && (
        <LinkButton to="/uploads" search={{ project: project.id, ...(collection ? { collection: collection.id } : {}) }} icon="up">
          Upload files
        </LinkButton>
      )}
    </div>
  )
}

function NoItems({ isFiltered, canWrite, projectId }: { isFiltered: boolean; canWrite: boolean; projectId: string }): ReactElement {
  if (isFiltered) return <Empty title="No items match">Try other search terms or another type.</Empty>
  return (
    <Empty
      icon="layers"
      title="No items yet"
      actions={
        <>
          <LinkButton to="/explore" variant="primary">
            Search scenes
          </LinkButton>
          {canWrite && (
            <LinkButton to="/uploads" search={{ project: projectId }}>
              Upload files
            </LinkButton>
          )}
        </>
      }
    >
      Items that you order, upload or process appear here.
    </Empty>
  )
}
