/** Clips: parts of one's own items, and of the operator's areas for those who may. */
import { useNavigate } from '@tanstack/react-router'
import { useState, type ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import { boxPolygon, decodeArea, encodeArea, type Box } from '../../map/geo.ts'
import { useTitle } from '../../state/crumbs.ts'
import { useUrl } from '../../state/url.ts'
import { mayWrite, useProjects, useWho } from '../../state/who.ts'
import { squareKilometres } from '../../ui/format.ts'
import { Button, Card, Check, Choice, Facts, Field, LinkButton, Note, Page } from '../../ui/kit.ts'
import { Empty, Failed, Loaded } from '../../ui/states.tsx'
import { AreaTools } from '../../parts/areas/area-tools.tsx'
import { CardMap } from '../../parts/areas/card-map.tsx'
import { SpendRefusal, useSpend } from '../../parts/orders/spend.tsx'
import { JobTable } from './jobs.tsx'
import { MakeNav } from './nav.tsx'
import { classes } from '../../ui/classes.ts'
import cardMapStyles from '../../parts/areas/card-map.module.css'
import cardStyles from '../../ui/card.module.css'
import ui from '../../ui/ui.module.css'

const CLIP = 'cog_clip'
const SHOWN = 25

export function Clips(): ReactElement {
  const jobs = useOp('processing.jobs.list', { processId: CLIP, limit: SHOWN }, { keep: true })
  useTitle({ text: 'Jobs', to: '/jobs' }, 'Clips')
  return (
    <Page
      title="Clips"
      about="Cut an area out of a raster without resampling and save it as a new item."
      actions={
        <LinkButton variant="primary" icon="poly" to="/processes/$id" params={{ id: CLIP }}>
          Clip an item
        </LinkButton>
      }
    >
      <MakeNav />
      <div className={classes(ui.flexColumn, ui.gap16, ui.marginTop16)}>
        <Card title="Clip jobs" flush>
          <Loaded
            query={jobs}
            rows={3}
            empty={({ total }) =>
              total === 0 && (
                <Empty
                  icon="poly"
                  title="No clips yet"
                  actions={
                    <LinkButton to="/processes/$id" params={{ id: CLIP }}>
                      Clip an item
                    </LinkButton>
                  }
                >
                  Choose an item and draw an area on it.
                </Empty>
              )
            }
          >
            {({ jobs: list, total }) => (
              <>
                <JobTable jobs={list} />
                {total > SHOWN && (
                  <div className={classes(ui.flexRow, ui.center, cardStyles.body)}>
                    <LinkButton to="/jobs" search={{ process: CLIP }}>
                      All {total} clip jobs
                    </LinkButton>
                  </div>
                )}
              </>
            )}
          </Loaded>
        </Card>
        <ClipAreas />
      </div>
    </Page>
  )
}

/** Areas that the operator offers: for accounts that were let in to them. */
function ClipAreas(): ReactElement {
  const { canClipAreas } = useWho()
  const areas = useOp('clip.areas.list', {}, { enabled: canClipAreas, staleTime: 300_000 })
  const [url, setUrl] = useUrl()
  if (!canClipAreas)
    return (
      <Note icon="lock">
        <b>Operator mosaics</b> are available to accounts that the operator has enabled. Yours is not enabled; you can still clip your own
        items.
      </Note>
    )
  if (areas.isError) return <Failed error={areas.error} retry={() => void areas.refetch()} />
  const list = areas.data?.areas ?? []
  const current = list.find(({ id }) => id === url['area']) ?? list[0]
  return (
    <Card
      title="Operator mosaics"
      aside={
        list.length > 0 && (
          <Choice
            label="Area"
            hideLabel
            value={current?.id ?? ''}
            onChange={(event) => setUrl({ area: event.target.value, aoi: null })}
            options={list.map(({ id, name }) => ({ value: id, text: name }))}
          />
        )
      }
    >
      <Loaded query={areas} rows={2} empty={({ areas: all }) => all.length === 0 && <p className={ui.soft}>No operator mosaics.</p>}>
        {() => current && <ClipArea key={current.id} id={current.id} box={current.bbox as Box} />}
      </Loaded>
    </Card>
  )
}

function ClipArea({ id, box }: { id: string; box: Box }): ReactElement {
  const [url, setUrl] = useUrl()
  const who = useWho()
  const navigate = useNavigate()
  const facts = useOp('clip.area.metadata', { area: id }, { staleTime: 300_000 })
  const mosaics = useOp('clip.area.mosaics', { area: id }, { staleTime: 300_000 })
  const projects = useProjects()
  const writable = (projects.data?.projects ?? []).filter((project) => mayWrite(who, project))
  const projectId = writable.find((project) => project.id === url['project'])?.id ?? writable[0]?.id ?? ''
  const [left, setLeft] = useState<readonly string[]>([])
  const [name, setName] = useState('')
  const area = decodeArea(url['aoi'])
  const types = (mosaics.data?.mosaics ?? []).map(({ mosaic_type }) => mosaic_type).filter((type) => !left.includes(type))
  const input = {
    area: id,
    mosaic_types: types,
    aoi_geometry: (area ?? {}) as GeoJSON.Geometry,
    project_id: projectId,
    ...(name ? { aoi_name: name } : {}),
  }
  const spend = useSpend('clip.create_from_area', input, ({ job }) => {
    void navigate({ to: '/jobs/$id', params: { id: job.id } })
  })
  const missing =
    area === null ? 'Draw an area first' : types.length === 0 ? 'Choose a mosaic' : projectId === '' ? 'Choose a project' : null
  return (
    <div className={classes(ui.grid, ui.twoToOne)}>
      <CardMap
        label="Area to clip"
        className={classes(cardMapStyles.wide, cardMapStyles.bare)}
        area={area}
        shapes={[{ id, geometry: boxPolygon(box) }]}
      >
        <AreaTools onArea={(next) => setUrl({ aoi: next ? encodeArea(next) : null })} />
      </CardMap>
      <div className={classes(ui.flexColumn, ui.gap12)}>
        {facts.data && (
          <Facts
            rows={[
              ['What', facts.data.description],
              ['Size', squareKilometres(facts.data.area_sq_km)],
              ['Price', `${facts.data.price.credits_per_km2} credits/km², minimum ${facts.data.price.minimum_credits}`],
              ['Attribution', facts.data.attribution],
            ]}
          />
        )}
        {(mosaics.data?.mosaics ?? []).map(({ mosaic_type, title }) => (
          <Check
            key={mosaic_type}
            checked={!left.includes(mosaic_type)}
            onChange={(on) => setLeft(on ? left.filter((type) => type !== mosaic_type) : [...left, mosaic_type])}
          >
            {title}
          </Check>
        ))}
        <Choice
          label="Project"
          value={projectId}
          onChange={(event) => setUrl({ project: event.target.value })}
          options={writable.map((project) => ({ value: project.id, text: project.name }))}
        />
        <Field label="Clip name (optional)" value={name} maxLength={200} onChange={(event) => setName(event.target.value)} />
        <SpendRefusal spend={spend} />
        <Button variant="primary" busy={spend.busy} disabled={missing !== null} onClick={spend.run}>
          {missing ?? 'Clip'}
        </Button>
      </div>
    </div>
  )
}
