/** Mosaics: many scenes as one, made here or registered by the addresses of their files. */
import { Link } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import type { Project } from '../../api/contract.ts'
import { useAct, useOp } from '../../api/query.ts'
import { useTitle } from '../../state/crumbs.ts'
import { itemsIn } from '../../state/found-item.ts'
import { mayWrite, useProjects, useWho } from '../../state/who.ts'
import { AuthImage, tileOf } from '../../ui/auth-image.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { date, plural } from '../../ui/format.ts'
import { Button, Card, Choice, Field, LinkButton, Page } from '../../ui/kit.ts'
import { Empty, FormProblem, Loaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { MakeNav } from './nav.tsx'
import { classes } from '../../ui/classes.ts'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'

const MOST = 100

export function Mosaics(): ReactElement {
  const who = useWho()
  const projects = useProjects()
  const mosaics = useOp('items.search_org', { type: 'mosaic', limit: MOST })
  const [registering, setRegistering] = useState(false)
  const writable = (projects.data?.projects ?? []).filter((project) => mayWrite(who, project))
  useTitle({ text: 'Jobs', to: '/jobs' }, 'Mosaics')
  const make = (
    <LinkButton variant="primary" icon="layers" to="/processes/$id" params={{ id: 'mosaic' }}>
      Create a mosaic
    </LinkButton>
  )
  return (
    <Page
      title="Mosaics"
      about="Combine scenes into one raster, with a source index per pixel."
      actions={
        writable.length > 0 && (
          <>
            <Button onClick={() => setRegistering(true)}>Register by URL</Button>
            {make}
          </>
        )
      }
    >
      <MakeNav />
      <div className={ui.marginTop16}>
        <Loaded
          query={mosaics}
          rows={4}
          empty={({ features }) =>
            features.length === 0 && (
              <Empty icon="layers" title="No mosaics yet" actions={writable.length > 0 && make}>
                Put several items together: the newest, the brightest, or the one nearest to the median in each pixel.
              </Empty>
            )
          }
        >
          {(found) => (
            <Card title={plural(found.features.length, 'mosaic')} flush>
              <ul>
                {itemsIn(found).map((item) => (
                  <li key={item.id} className={listStyles.entry}>
                    <span className={listStyles.thumbnail}>
                      <AuthImage path={tileOf(`/api/v1/items/${encodeURIComponent(item.id)}`, item.bbox)} alt="" />
                    </span>
                    <div className={ui.grow}>
                      <Link to="/view/$item" params={{ item: item.id }}>
                        <b>{item.name}</b>
                      </Link>
                      <div className={classes(ui.soft, ui.small)}>{spanOf(item.properties)}</div>
                    </div>
                    <LinkButton size="s" icon="flow" to="/lineage/$type/$id" params={{ type: 'item', id: item.id }}>
                      Lineage
                    </LinkButton>
                  </li>
                ))}
              </ul>
            </Card>
          )}
        </Loaded>
      </div>
      {registering && <RegisterMosaic projects={writable} onClose={() => setRegistering(false)} />}
    </Page>
  )
}

function spanOf(properties: Readonly<Record<string, unknown>>): string {
  const [from, to] = [properties['start_datetime'], properties['end_datetime']]
  return typeof from === 'string' && typeof to === 'string' ? `${date(from)} to ${date(to)}` : date(properties['datetime'] as string)
}

const EDGES = ['West', 'South', 'East', 'North'] as const

function RegisterMosaic({ projects, onClose }: { projects: readonly Project[]; onClose(): void }): ReactElement {
  const register = useAct('mosaic.register', ['items', 'collections'])
  const [form, setForm] = useState({
    project: projects[0]!.id,
    name: '',
    href: '',
    bands: '3',
    method: 'median',
    from: '',
    to: '',
    sources: '',
  })
  const [box, setBox] = useState(['', '', '', ''])
  const set = (name: keyof typeof form) => (event: { target: { value: string } }) => setForm({ ...form, [name]: event.target.value })
  const send = () =>
    register.mutate(
      {
        project_id: form.project,
        name: form.name,
        mosaic_method: form.method,
        bbox: box.map(Number) as [number, number, number, number],
        start_datetime: `${form.from}T00:00:00Z`,
        end_datetime: `${form.to}T23:59:59Z`,
        source_collections: form.sources.split(',').flatMap((name) => name.trim() || []),
        data_asset: { href: form.href, band_count: Number(form.bands) },
      },
      {
        onSuccess: () => {
          toast('Mosaic registered')
          onClose()
        },
      },
    )
  return (
    <Dialog title="Register a mosaic" onClose={onClose} size={560}>
      <form
        className={classes(ui.flexColumn, ui.gap12)}
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
      >
        <p className={classes(ui.soft, ui.small)}>Files are referenced, not copied. Registration is free.</p>
        <Field label="Name" required value={form.name} onChange={set('name')} />
        <Field label="Raster URL" required type="url" placeholder="https://" value={form.href} onChange={set('href')} />
        <div className={ui.pair}>
          <Field label="Bands" required type="number" min={1} max={256} value={form.bands} onChange={set('bands')} />
          <Field label="Method" required value={form.method} onChange={set('method')} />
          <Field label="First scene" required type="date" value={form.from} onChange={set('from')} />
          <Field label="Last scene" required type="date" value={form.to} onChange={set('to')} />
          {EDGES.map((edge, index) => (
            <Field
              key={edge}
              label={edge}
              required
              inputMode="decimal"
              value={box[index]!}
              onChange={(event) => setBox(box.with(index, event.target.value))}
            />
          ))}
        </div>
        <Field label="Source collections (comma-separated)" required value={form.sources} onChange={set('sources')} />
        <Choice
          label="Project"
          value={form.project}
          onChange={set('project')}
          options={projects.map(({ id, name }) => ({ value: id, text: name }))}
        />
        <FormProblem error={register.error} />
        <Button type="submit" variant="primary" busy={register.isPending}>
          Register mosaic
        </Button>
      </form>
    </Dialog>
  )
}
