/** One scene in full: picture, price over the area, facts, and what can be done with it. */
import { useNavigate } from '@tanstack/react-router'
import type { ReactElement } from 'react'
import { areaOf } from '../../map/geo.ts'
import { AuthImage } from '../../ui/auth-image.tsx'
import { area as areaText, audOfCredits, count, dateTime, metres, percent } from '../../ui/format.ts'
import { Badge, Button, Facts, LinkButton, copyText } from '../../ui/kit.ts'
import { toggleInCart, useCart } from '../../state/cart.ts'
import { useEstimate } from '../../state/estimate.ts'
import { ImportScene } from './import-scene.tsx'
import type { Scene } from '../../state/scene.ts'
import { classes } from '../../ui/classes.ts'
import filmstripStyles from '../../parts/filmstrip.module.css'
import workspaceStyles from '../../parts/workspace.module.css'
import styles from './explore.module.css'
import ui from '../../ui/ui.module.css'

export function creditsFor(scene: Scene, area: GeoJSON.Polygon | null): number | null {
  if (scene.creditsPerKm2 === null) return null
  const km2 = area ? (areaOf(area) / 1e6) * (scene.covered ?? 1) : areaOf(scene.geometry) / 1e6
  return Math.ceil(scene.creditsPerKm2 * km2)
}

interface InspectorParts {
  scene: Scene
  area: GeoJSON.Polygon | null
  others: readonly Scene[]
  onPick(scene: Scene): void
  onClose(): void
}

export function Inspector({ scene, area, others, onPick, onClose }: InspectorParts): ReactElement {
  const guess = creditsFor(scene, area)
  const exact = useEstimate(guess === null ? [] : [{ ...scene, area }])
  const credits = guess === null ? null : (exact.data?.total_credits ?? guess)
  const refused = exact.data?.errors[0]?.reason
  const isInCart = useCart().some(({ key }) => key === scene.key)
  const navigate = useNavigate()
  const km2 = area ? areaText(areaOf(area) * (scene.covered ?? 1)) : areaText(areaOf(scene.geometry))
  return (
    <aside className={classes(workspaceStyles.panel, workspaceStyles.right, workspaceStyles.onPhone)} aria-label="Scene">
      <div className={classes(ui.flexRow, styles.inspectorHeader)}>
        <h2 className={classes(ui.grow, ui.ellipsis)}>{scene.title}</h2>
        <Button variant="quiet" icon="copy" label="Copy the id" onClick={() => void copyText(scene.id)} />
        <Button variant="quiet" icon="x" label="Close the scene" onClick={onClose} />
      </div>
      <div className={workspaceStyles.scroll}>
        {(scene.quicklook ?? scene.thumbnail) && (
          <div className={styles.quicklook}>
            <AuthImage path={scene.quicklook ?? scene.thumbnail} alt={`Quicklook of ${scene.title}`} />
          </div>
        )}
        <div className={workspaceStyles.section}>
          {scene.kind === 'item' ? (
            <LinkButton to="/view/$item" params={{ item: scene.id }} variant="primary" wide icon="eye">
              Open
            </LinkButton>
          ) : (
            <>
              <div className={classes(ui.flexRow, ui.between)}>
                <div>
                  <b className={classes(ui.largePrice, ui.numeric)}>{credits === null ? 'Free' : audOfCredits(credits)}</b>
                  <div className={classes(ui.soft, ui.small)}>
                    {credits === null ? 'open data' : `${exact.data ? '' : 'about '}${count(credits)} credits for ${km2}`}
                  </div>
                </div>
                {scene.creditsPerKm2 !== null && <Badge>{count(scene.creditsPerKm2)} credits a km²</Badge>}
              </div>
              <div className={classes(ui.flexRow, ui.marginTop12)}>
                {credits === null ? (
                  <ImportScene scene={scene} />
                ) : (
                  <Button
                    variant="primary"
                    wide
                    icon={isInCart ? 'check' : 'cart'}
                    onClick={() => toggleInCart(scene, area)}
                    aria-pressed={isInCart}
                  >
                    {isInCart ? 'In order' : 'Add to order'}
                  </Button>
                )}
              </div>
              {credits !== null && (
                <p className={classes(ui.soft, ui.small, ui.marginTop8)}>
                  {refused ?? "Only the part inside your area is charged, subject to the vendor's minimum."}
                </p>
              )}
            </>
          )}
        </div>
        <div className={workspaceStyles.section}>
          <h3>Scene</h3>
          <Facts
            rows={[
              ['Acquired', dateTime(scene.datetime)],
              ['Source', scene.source],
              ['Resolution', `${metres(scene.gsd)}${scene.bands.length > 0 ? `, ${scene.bands.length} bands` : ''}`],
              ['Cloud', percent(scene.cloud)],
              ...(scene.offNadir === null ? [] : [['Off nadir', `${scene.offNadir.toFixed(1)}°`] as const]),
              ...(scene.sunElevation === null ? [] : [['Sun elevation', `${scene.sunElevation.toFixed(1)}°`] as const]),
              ['Area coverage', scene.covered === null ? '–' : `${percent(scene.covered * 100)} of your area`],
            ]}
          />
        </div>
        {others.length > 0 && (
          <div className={workspaceStyles.section}>
            <h3>
              <span className={ui.grow}>Same place, other dates</span>
              {scene.kind === 'item' && others[0] && (
                <button
                  type="button"
                  className={ui.asLink}
                  onClick={() => void navigate({ to: '/compare', search: { a: scene.id, b: others[0]!.id } })}
                >
                  Compare
                </button>
              )}
            </h3>
            <div className={classes(filmstripStyles.filmstrip, filmstripStyles.threeFrames)}>
              {others.slice(0, 6).map((other) => (
                <button
                  key={other.key}
                  type="button"
                  className={filmstripStyles.frame}
                  onClick={() => onPick(other)}
                  aria-label={`Scene of ${dateTime(other.datetime)}`}
                >
                  <AuthImage path={other.thumbnail} alt="" />
                  <span aria-hidden="true">{other.datetime?.slice(0, 10)}</span>
                </button>
              ))}
            </div>
          </div>
        )}
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
