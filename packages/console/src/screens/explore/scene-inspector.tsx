/** One scene: its image, its price over the area, its metadata, and other dates. */
import type { AreaShape } from '../../map/geo.ts'
import { Link } from '@tanstack/react-router'
import type { ReactElement, ReactNode } from 'react'
import type { CatalogSource } from '../../api/contract.ts'
import { Filmstrip, FilmstripImage } from '../../parts/filmstrip.tsx'
import { Licence } from '../../parts/licence.tsx'
import { SimulatedBadge } from '../../parts/simulated-badge.tsx'
import type { Scene } from '../../state/scene.ts'
import { AuthImage } from '../../ui/auth-image.tsx'
import { count, date, dateTime, metres, percent } from '../../ui/format.ts'
import { Badge, Button, copyText, Facts, LinkButton } from '../../ui/kit.ts'
import { AreaCloud } from './area-cloud.tsx'
import { canPreview } from './previews.ts'
import { SceneOffer } from './scene-offer.tsx'
import { classes } from '../../ui/classes.ts'
import filmstripStyles from '../../parts/filmstrip.module.css'
import workspaceStyles from '../../parts/workspace.module.css'
import styles from './scene-inspector.module.css'
import ui from '../../ui/ui.module.css'

const MAX_OTHERS = 6

interface SceneInspectorParts {
  scene: Scene
  /** Null for items. */
  source: CatalogSource | null
  area: AreaShape | null
  /** Other scenes of the same source. */
  others: readonly Scene[]
  onPick(scene: Scene): void
  isPreviewed: boolean
  onPreview(scene: Scene): void
  onClose(): void
}

export function SceneInspector({
  scene,
  source,
  area,
  others,
  onPick,
  isPreviewed,
  onPreview,
  onClose,
}: SceneInspectorParts): ReactElement {
  const image = scene.quicklook ?? scene.thumbnail
  return (
    <aside className={classes(workspaceStyles.panel, workspaceStyles.right, workspaceStyles.onPhone)} aria-label="Scene">
      <div className={classes(ui.flexRow, styles.header)}>
        <h2 className={classes(ui.grow, ui.ellipsis)}>{scene.title}</h2>
        {scene.isSimulated && <SimulatedBadge />}
        <Button variant="quiet" icon="copy" label="Copy scene ID" onClick={() => void copyText(scene.id)} />
        <Button variant="quiet" icon="x" label="Close scene" onClick={onClose} />
      </div>
      <div className={workspaceStyles.scroll}>
        {image && (
          <div className={styles.quicklook}>
            <AuthImage path={image} alt={`Quicklook of ${scene.title}`} />
          </div>
        )}
        <div className={workspaceStyles.section}>
          {scene.kind === 'item' ? (
            <LinkButton to="/view/$item" params={{ item: scene.id }} variant="primary" wide icon="eye">
              Open item
            </LinkButton>
          ) : (
            <SceneOffer scene={scene} area={area} />
          )}
          {canPreview(scene) && (
            <Button wide className={ui.marginTop8} icon="eye" aria-pressed={isPreviewed} onClick={() => onPreview(scene)}>
              {isPreviewed ? 'Remove preview' : 'Keep preview on the map'}
            </Button>
          )}
        </div>
        <SceneFacts scene={scene} source={source} area={area} />
        {others.length > 0 && <OtherDates scene={scene} others={others} onPick={onPick} />}
        {scene.bands.length > 0 && (
          <div className={workspaceStyles.section}>
            <h3>Bands</h3>
            <div className={classes(ui.flexRow, ui.gap4, ui.wrap)}>
              {scene.bands.map((band, index) => (
                <Badge key={band}>
                  b{index + 1} {band}
                </Badge>
              ))}
            </div>
          </div>
        )}
      </div>
    </aside>
  )
}

const degrees = (value: number) => `${value.toFixed(1)}°`

const SceneFacts = ({ scene, source, area }: Pick<SceneInspectorParts, 'scene' | 'source' | 'area'>): ReactElement => (
  <div className={workspaceStyles.section}>
    <h3>Scene</h3>
    <Facts
      rows={[
        ['Acquired', dateTime(scene.datetime)],
        ['Source', scene.source],
        ...(scene.label === scene.source ? [] : [['Collection', scene.label] as const]),
        ['Resolution', metres(scene.gsd)],
        ...(scene.bands.length === 0 ? [] : [['Bands', count(scene.bands.length)] as const]),
        ['Cloud cover', <AreaCloud key="cloud" scene={scene} area={area} />],
        ...(scene.offNadir === null ? [] : [['Off nadir', degrees(scene.offNadir)] as const]),
        ...(scene.sunElevation === null ? [] : [['Sun elevation', degrees(scene.sunElevation)] as const]),
        ['Area coverage', scene.covered === null ? '–' : percent(scene.covered * 100)],
        ...licenceRows(scene, source),
      ]}
    />
  </div>
)

/** A vendor's licence is part of the order; open imagery states its own. */
function licenceRows({ terms, isForSale }: Scene, source: CatalogSource | null): (readonly [string, ReactNode])[] {
  const attribution = terms.attribution ?? source?.attribution ?? null
  return [
    ...(isForSale
      ? [['Licence', 'Commercial'] as const]
      : terms.licence === null
        ? []
        : [['Licence', <Licence key="licence" terms={terms} />] as const]),
    ...(attribution === null ? [] : [['Attribution', attribution] as const]),
  ]
}

function OtherDates({ scene, others, onPick }: Pick<SceneInspectorParts, 'scene' | 'others' | 'onPick'>): ReactElement {
  return (
    <div className={workspaceStyles.section}>
      <h3>
        <span className={ui.grow}>Other dates here</span>
        {scene.kind === 'item' && (
          <Link to="/compare" search={{ a: scene.id, b: others[0]!.id }}>
            Compare
          </Link>
        )}
      </h3>
      <Filmstrip columns={3}>
        {others.slice(0, MAX_OTHERS).map((other) => (
          <button
            key={other.key}
            type="button"
            className={filmstripStyles.frame}
            onClick={() => onPick(other)}
            aria-label={`Scene of ${dateTime(other.datetime)}`}
          >
            <FilmstripImage path={other.thumbnail} caption={date(other.datetime)} />
          </button>
        ))}
      </Filmstrip>
    </div>
  )
}
