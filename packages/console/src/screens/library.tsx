/** Projects, collections, items: what the organization has. */
import { useQueryClient } from '@tanstack/react-query'
import { Link, Navigate, useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useMemo, useState, type ReactElement } from 'react'
import { call } from '../api/client.ts'
import type { Collection, Item, Project } from '../api/contract.ts'
import { touch, useOp } from '../api/query.ts'
import { MapSlot } from '../map/map-slot.tsx'
import { theStage } from '../map/stage.ts'
import type { Box } from '../map/geo.ts'
import { useTitle } from '../shell/crumbs.tsx'
import { useUrl } from '../shell/url.ts'
import { mayManage, mayWrite, useProjects, useWho } from '../shell/who.ts'
import { AuthImage, tileOf } from '../ui/auth-image.tsx'
import { bytes, date, metres, plural } from '../ui/format.ts'
import { Icon } from '../ui/icons.tsx'
import { Badge, Button, Choice, LinkButton, Segmented } from '../ui/kit.tsx'
import { Empty, Failed, Loaded, Skeleton } from '../ui/states.tsx'
import { toast } from '../ui/toasts.tsx'
import { NewCollection, NewProject } from './project-dialogs.tsx'
import { ShareDialog } from './later.tsx'
import { deleteWithUndo } from './viewer/metadata-tab.tsx'

const PAGE = 60

export function Library(): ReactElement {
  const { project: id } = useParams({ strict: false }) as { project?: string }
  const projects = useProjects()
  const [dialog, setDialog] = useState(false)
  useTitle('Library')
  if (projects.isError && !projects.data) return <Failed error={projects.error} retry={() => void projects.refetch()} />
  if (!projects.data) return <Skeleton />
  const list = projects.data.projects
  if (list.length === 0)
    return (
      <>
        <h1 className="sr">Library</h1>
        <Empty
          icon="folder"
          title="No project yet"
          actions={
            <Button look="primary" onClick={() => setDialog(true)}>
              Create a project
            </Button>
          }
        >
          A project holds items, members and storage.
        </Empty>
        {dialog && <NewProject onClose={() => setDialog(false)} />}
      </>
    )
  // Who has gone on while the list was loading is not fetched back.
  if (!id && !/\/library\/?$/.test(location.pathname)) return <Skeleton />
  if (!id)
    return (
      <Navigate
        to="/library/$project"
        params={{ project: (list.find(({ item_count }) => item_count > 0) ?? list[0]!).id } as never}
        replace
      />
    )
  const project = list.find((one) => one.id === id)
  if (!project)
    return (
      <Empty icon="folder" title="Not here, or not yours to see" actions={<LinkButton to="/library">Your projects</LinkButton>}>
        This project may be private, archived or deleted.
      </Empty>
    )
  return <ProjectView key={id} project={project} projects={list} />
}

function ProjectView({ project, projects }: { project: Project; projects: readonly Project[] }): ReactElement {
  const { collection: collectionId } = useParams({ strict: false }) as { collection?: string }
  const who = useWho()
  const [url, setUrl] = useUrl()
  const collections = useOp('collections.list', { project_id: project.id })
  const isLoose = collectionId === 'loose'
  const [limit, setLimit] = useState(PAGE)
  const items = useOp(
    'items.list',
    { project_id: project.id, limit, ...(isLoose ? { uncollected: true } : collectionId ? { collection_id: collectionId } : {}) },
    { keep: true },
  )
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [shareId, setShareId] = useState<string | null>(null)
  const canWrite = mayWrite(who, project)
  const collection = collections.data?.find(({ id }) => id === collectionId)
  useTitle(
    { text: who.organizationName, to: '/library' },
    ...(collection ? [{ text: project.name, to: `/library/${project.id}` }, collection.name] : [project.name]),
  )
  const q = (url['q'] ?? '').toLowerCase()
  const shown = useMemo(
    () =>
      (items.data?.items ?? []).filter(
        (item) => (!q || `${item.name} ${item.id}`.toLowerCase().includes(q)) && (!url['type'] || item.type === url['type']),
      ),
    [items.data, q, url],
  )
  const view = (url['view'] ?? 'grid') as 'grid' | 'table' | 'map'
  const toggle = (id: string) =>
    setChosen((before) => (before.has(id) ? new Set([...before].filter((one) => one !== id)) : new Set([...before, id])))
  const shared = shown.find(({ id }) => id === shareId)
  return (
    <div className="lib">
      <h1 className="sr" tabIndex={-1}>
        {project.name}
      </h1>
      <CollectionPanel {...{ project, projects, collectionId, canWrite }} collections={collections.data ?? []} />
      <section className="lib-main" aria-label="Items">
        <div className="libbar row wrap">
          <label className="input lib-search">
            <Icon name="search" />
            <span className="sr">Name or id</span>
            <input placeholder="Name or id" value={url['q'] ?? ''} onChange={(event) => setUrl({ q: event.target.value || null })} />
          </label>
          <Choice
            label="Type"
            hideLabel
            value={url['type'] ?? ''}
            onChange={(event) => setUrl({ type: event.target.value || null })}
            options={TYPES}
          />
          <span className="grow" />
          <span className="soft hide-s">{items.data ? plural(items.data.total, 'item') : ''}</span>
          <Segmented
            label="View"
            value={view}
            onChange={(next) => setUrl({ view: next === 'grid' ? null : next })}
            options={[
              { value: 'table', text: 'Table' },
              { value: 'grid', text: 'Grid' },
              { value: 'map', text: 'Map' },
            ]}
          />
          <LinkButton icon="down" label="Report about this project" to="/reports" search={{ project: project.id } as never} />
          {canWrite && (
            <LinkButton
              to="/uploads"
              search={{ project: project.id, ...(collection ? { collection: collection.id } : {}) } as never}
              icon="up"
            >
              Upload
            </LinkButton>
          )}
        </div>
        {project.is_archived && <p className="archived-bar warn">This project is archived: it can be read, not changed.</p>}
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
          query={items}
          rows={6}
          empty={() =>
            shown.length === 0 && <NothingHere isFiltered={Boolean(q || url['type'])} canWrite={canWrite} projectId={project.id} />
          }
        >
          {() =>
            view === 'map' ? (
              <ItemsMap items={shown} collections={collections.data ?? []} />
            ) : view === 'table' ? (
              <ItemTable items={shown} chosen={chosen} onToggle={toggle} canWrite={canWrite} />
            ) : (
              <ItemGrid items={shown} chosen={chosen} onToggle={toggle} canWrite={canWrite} />
            )
          }
        </Loaded>
        {items.data && items.data.items.length < items.data.total && view !== 'map' && (
          <div className="row center">
            <Button onClick={() => setLimit(limit + PAGE)}>Load more</Button>
          </div>
        )}
      </section>
      {shared && <ShareDialog type="item" id={shared.id} name={shared.name} mayWrite={canWrite} onClose={() => setShareId(null)} />}
    </div>
  )
}

const TYPES = [
  { value: '', text: 'Every type' },
  ...['satellite_capture', 'derived_raster', 'derived_vector', 'clip', 'user_raster', 'user_vector', 'external_reference', 'mosaic'].map(
    (type) => ({ value: type, text: type.replaceAll('_', ' ') }),
  ),
]

function NothingHere({ isFiltered, canWrite, projectId }: { isFiltered: boolean; canWrite: boolean; projectId: string }): ReactElement {
  if (isFiltered) return <Empty title="No item matches">Other words or another type may find it.</Empty>
  return (
    <Empty
      icon="layers"
      title="Nothing here yet"
      actions={
        <>
          <LinkButton to="/explore" look="primary">
            Search scenes
          </LinkButton>
          {canWrite && (
            <LinkButton to="/uploads" search={{ project: projectId } as never}>
              Upload files
            </LinkButton>
          )}
        </>
      }
    >
      What you buy, upload or make appears here and on the map.
    </Empty>
  )
}

interface PanelParts {
  project: Project
  projects: readonly Project[]
  collections: readonly Collection[]
  collectionId: string | undefined
  canWrite: boolean
}

function CollectionPanel({ project, projects, collections, collectionId, canWrite }: PanelParts): ReactElement {
  const navigate = useNavigate()
  const who = useWho()
  const [dialog, setDialog] = useState<'project' | 'collection' | 'share' | null>(null)
  const current = collections.find(({ id }) => id === collectionId)
  return (
    <aside className="lib-side" aria-label="Collections">
      <div className="sec">
        <Choice
          label="Project"
          value={project.id}
          onChange={(event) =>
            void (event.target.value === '+'
              ? setDialog('project')
              : navigate({ to: '/library/$project', params: { project: event.target.value } as never }))
          }
          options={[
            ...projects.map(({ id, name, is_archived }) => ({ value: id, text: is_archived ? `${name} (archived)` : name })),
            { value: '+', text: 'New project…' },
          ]}
        />
      </div>
      <div className="row between sec-title">
        <h2 className="panel-title">Collections</h2>
        {canWrite && <Button look="quiet" size="s" icon="plus" label="New collection" onClick={() => setDialog('collection')} />}
      </div>
      <ul className="lib-list">
        <li>
          <Link to="/library/$project" params={{ project: project.id } as never} className={collectionId ? '' : 'on'}>
            <i className="sq2" style={{ background: 'linear-gradient(135deg,var(--c1),var(--c3))' }} />
            <span className="grow cut">All items</span>
            <span className="soft num">{project.item_count}</span>
          </Link>
        </li>
        {collections.map((one) => (
          <li key={one.id}>
            <Link
              to="/library/$project/$collection"
              params={{ project: project.id, collection: one.id } as never}
              className={one.id === collectionId ? 'on' : ''}
            >
              <i className="sq2" style={{ background: /^#[0-9a-f]{3,8}$/i.test(one.color ?? '') ? one.color! : 'var(--c6)' }} />
              <span className="grow cut">{one.name}</span>
              <span className="soft num">{one.item_count}</span>
            </Link>
          </li>
        ))}
        <li>
          <Link
            to="/library/$project/$collection"
            params={{ project: project.id, collection: 'loose' } as never}
            className={collectionId === 'loose' ? 'on' : ''}
          >
            <i className="sq2" style={{ background: 'var(--c6)' }} />
            <span className="grow cut">Not in a collection</span>
          </Link>
        </li>
      </ul>
      <div className="sec push-down">
        <div className="row between sm">
          <span>Storage of this project</span>
          <span className="soft num">{bytes(project.storage_bytes)}</span>
        </div>
        <div className="row g6 wrap mt12">
          {current && canWrite && (
            <Button size="s" icon="share" onClick={() => setDialog('share')}>
              Share collection
            </Button>
          )}
          {mayManage(who, project) && (
            <LinkButton size="s" icon="users" to="/team/projects" search={{ project: project.id } as never}>
              People
            </LinkButton>
          )}
          <LinkButton size="s" icon="share" to="/shares" search={{ project: project.id } as never}>
            Links
          </LinkButton>
          <LinkButton
            size="s"
            icon="flow"
            to="/lineage/$type/$id"
            params={{ type: current ? 'collection' : 'project', id: current?.id ?? project.id } as never}
          >
            Lineage
          </LinkButton>
        </div>
      </div>
      {dialog === 'project' && <NewProject onClose={() => setDialog(null)} />}
      {dialog === 'collection' && <NewCollection projectId={project.id} onClose={() => setDialog(null)} />}
      {dialog === 'share' && current && (
        <ShareDialog type="collection" id={current.id} name={current.name} mayWrite={canWrite} onClose={() => setDialog(null)} />
      )}
    </aside>
  )
}

interface SelectionParts {
  chosen: readonly Item[]
  collections: readonly Collection[]
  canWrite: boolean
  onShare(id: string): void
  onClear(): void
}

function SelectionBar({ chosen, collections, canWrite, onShare, onClear }: SelectionParts): ReactElement {
  const client = useQueryClient()
  const move = async (to: string) => {
    await Promise.all(chosen.map(({ id }) => call('items.update', { item_id: id, collection_id: to || null })))
    await touch(client, ['items', 'collections'])
    toast(`${plural(chosen.length, 'item')} moved`)
    onClear()
  }
  return (
    <div className="selbar row wrap">
      <b>{chosen.length} chosen</b>
      <Button size="s" look="quiet" onClick={onClear}>
        Clear
      </Button>
      <span className="grow" />
      {chosen.length === 2 && (
        <LinkButton size="s" icon="swipe" to="/compare" search={{ a: chosen[0]!.id, b: chosen[1]!.id } as never}>
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
            look="danger"
            icon="trash"
            onClick={() => {
              for (const item of chosen) deleteWithUndo(item, onClear)
            }}
          >
            Delete
          </Button>
        </>
      )}
    </div>
  )
}

interface ItemsParts {
  items: readonly Item[]
  chosen: ReadonlySet<string>
  onToggle(id: string): void
  canWrite: boolean
}

const thumbnail = (item: Item) => tileOf(`/api/v1/items/${encodeURIComponent(item.id)}`, item.bbox)
const whence = (item: Item) => (item.order_id ? 'order' : item.upload_id ? 'upload' : item.job_id ? 'job' : item.type.replaceAll('_', ' '))

function ItemGrid({ items, chosen, onToggle }: ItemsParts): ReactElement {
  return (
    <ul className="lgrid">
      {items.map((item) => (
        <li key={item.id} className={chosen.has(item.id) ? 'it on' : 'it'}>
          <div className="im">
            <AuthImage path={thumbnail(item)} alt="" />
            <input
              type="checkbox"
              className="ck-on"
              checked={chosen.has(item.id)}
              aria-label={`Choose ${item.name}`}
              onChange={() => onToggle(item.id)}
            />
            {item.lifecycle_state !== 'active' && (
              <span className="corner">
                <Badge tone="warn">{item.lifecycle_state}</Badge>
              </span>
            )}
          </div>
          <Link to="/view/$item" params={{ item: item.id } as never} className="tx">
            <b className="cut">{item.name}</b>
            <span className="row between soft sm">
              <span>{date(item.datetime)}</span>
              <span>{metres(item.gsd)}</span>
            </span>
            <span className="faint sm">{whence(item)}</span>
          </Link>
        </li>
      ))}
    </ul>
  )
}

function ItemTable({ items, chosen, onToggle }: ItemsParts): ReactElement {
  return (
    <div className="scrollx">
      <table className="tbl stack">
        <thead>
          <tr>
            <th>
              <span className="sr">Choose</span>
            </th>
            <th>Name</th>
            <th>Acquired</th>
            <th className="n">Pixel</th>
            <th>From</th>
            <th>State</th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={item.id} className={chosen.has(item.id) ? 'sel' : ''}>
              <td className="hide-s">
                <input
                  type="checkbox"
                  checked={chosen.has(item.id)}
                  aria-label={`Choose ${item.name}`}
                  onChange={() => onToggle(item.id)}
                />
              </td>
              <td>
                <Link to="/view/$item" params={{ item: item.id } as never}>
                  {item.name}
                </Link>
              </td>
              <td>{date(item.datetime)}</td>
              <td className="n">{metres(item.gsd)}</td>
              <td className="hide-s">{whence(item)}</td>
              <td className="hide-s">{item.expires_at ? `expires ${date(item.expires_at)}` : item.lifecycle_state}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function ItemsMap({ items, collections }: { items: readonly Item[]; collections: readonly Collection[] }): ReactElement {
  const navigate = useNavigate()
  useEffect(() => {
    const colour = (id: string | null) => collections.find((one) => one.id === id)?.color ?? undefined
    theStage().setFootprints(
      items.map((item) => ({
        id: item.id,
        geometry: item.geometry as unknown as GeoJSON.Geometry | null,
        colour: colour(item.collection_id),
      })),
    )
    theStage().setRasters(
      collections
        .filter(({ show_on_map, item_count }) => show_on_map && item_count > 0)
        .slice(0, 6)
        .map(({ id }) => ({ id: `collection-${id}`, tiles: `${location.origin}/api/v1/collections/${id}/tiles/{z}/{x}/{y}.webp` })),
    )
    const boxes = items.flatMap(({ bbox }) => (bbox ? [bbox as Box] : []))
    if (boxes.length > 0)
      theStage().fit(
        [
          Math.min(...boxes.map((box) => box[0])),
          Math.min(...boxes.map((box) => box[1])),
          Math.max(...boxes.map((box) => box[2])),
          Math.max(...boxes.map((box) => box[3])),
        ],
        { animate: false },
      )
    const { map } = theStage()
    const onClick = ({ point }: { point: { x: number; y: number } }) => {
      const [id] = theStage().footprintsAt([point.x, point.y])
      if (id) void navigate({ to: '/view/$item', params: { item: id } as never })
    }
    map.on('click', onClick)
    return () => void map.off('click', onClick)
  }, [items, collections, navigate])
  return (
    <div className="lib-map">
      <MapSlot />
    </div>
  )
}
