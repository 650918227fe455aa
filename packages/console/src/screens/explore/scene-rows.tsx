/** The scenes as rows, in groups by source and day; altimetry has a part of its own at the end. */
import type { AreaShape } from '../../map/geo.ts'
import { useCallback, useMemo, useState, type ReactElement } from 'react'
import { useCart } from '../../state/cart.ts'
import type { Scene } from '../../state/scene.ts'
import { classes } from '../../ui/classes.ts'
import { Icon } from '../../ui/icons.tsx'
import { plural } from '../../ui/format.ts'
import { useMore } from '../../ui/more.ts'
import { groupsOf, isOpenAtFirst, isTrack, summaryOf, type SceneGroup } from './groups.ts'
import type { ScenePrices } from './prices.ts'
import { PreviewButton } from './preview-button.tsx'
import { canPreview, MAX_PREVIEWS, withoutPreview, withPreviews } from './previews.ts'
import { SceneRow } from './scene-row.tsx'
import workspaceStyles from '../../parts/workspace.module.css'
import styles from './scene-rows.module.css'
import ui from '../../ui/ui.module.css'

interface SceneRowsParts {
  scenes: readonly Scene[]
  prices: ScenePrices
  area: AreaShape | null
  selected: Scene | null
  hovered: string | null
  setHovered(key: string | null): void
  pick(scene: Scene): void
  /** Keys of scenes whose previews are on the map. */
  previews: readonly string[]
  setPreviews(keys: readonly string[]): void
}

type OpenGroups = ReadonlyMap<string, boolean>

export function SceneRows(parts: SceneRowsParts): ReactElement {
  const { scenes, selected } = parts
  const [chosen, setChosen] = useState<OpenGroups>(new Map())
  const images = useMemo(() => groupsOf(scenes.filter((scene) => !isTrack(scene))), [scenes])
  const tracks = useMemo(() => groupsOf(scenes.filter(isTrack)), [scenes])
  const isOpen = (group: SceneGroup) =>
    group.scenes.some(({ key }) => key === selected?.key) ||
    (chosen.get(group.key) ?? (isOpenAtFirst(group) && !(isTrack(group.scenes[0]!) && images.length > 0)))
  const groups = [...images, ...tracks]
  const drawn = rowCounts(groups, isOpen)
  const { shown, end } = useMore<HTMLDivElement>(
    drawn.total,
    drawn.before[groups.findIndex((group) => group.scenes.some(({ key }) => key === selected?.key))] ?? -1,
  )
  const part = (some: readonly SceneGroup[], first: number) =>
    some.map((group, index) => {
      const rows = shown - drawn.before[first + index]!
      return rows > 0 ? (
        <Group
          key={group.key}
          {...parts}
          group={group}
          rows={rows}
          isOpen={isOpen(group)}
          onToggle={() => setChosen((before) => new Map(before).set(group.key, !isOpen(group)))}
        />
      ) : null
    })
  return (
    <section className={workspaceStyles.scroll} aria-label="Scenes" tabIndex={-1}>
      {part(images, 0)}
      {tracks.length > 0 && shown > drawn.before[images.length]! && <h2 className={styles.part}>Altimetry</h2>}
      {part(tracks, images.length)}
      {shown < drawn.total && <div ref={end} aria-hidden="true" />}
    </section>
  )
}

/** Rows before each group, headings included, and of all groups. */
function rowCounts(groups: readonly SceneGroup[], isOpen: (group: SceneGroup) => boolean): { before: number[]; total: number } {
  let total = 0
  const before = groups.map((group) => {
    const rows = total
    total += isOpen(group) ? group.scenes.length : 1
    return rows
  })
  return { before, total }
}

interface GroupParts extends SceneRowsParts {
  group: SceneGroup
  /** As many are drawn at most. */
  rows: number
  isOpen: boolean
  onToggle(): void
}

function Group({
  group,
  rows,
  isOpen,
  onToggle,
  prices,
  area,
  selected,
  hovered,
  setHovered,
  pick,
  previews,
  setPreviews,
}: GroupParts): ReactElement {
  const inCart = new Set(useCart().map(({ key }) => key))
  const summary = useMemo(() => (group.scenes.length > 1 ? summaryOf(group, area, prices) : ''), [group, area, prices])
  const onHover = useCallback((key: string | null) => setHovered(key), [setHovered])
  const onPreview = useCallback(
    ({ key }: Scene) => setPreviews(previews.includes(key) ? withoutPreview(previews, key) : withPreviews(previews, [key])),
    [previews, setPreviews],
  )
  const offered = group.scenes.filter(canPreview).slice(0, MAX_PREVIEWS)
  const isHovered = !isOpen && group.scenes.some(({ key }) => key === hovered)
  return (
    <>
      {group.scenes.length > 1 && (
        <h3 className={styles.heading}>
          <button type="button" className={classes(styles.group, isHovered && styles.hovered)} aria-expanded={isOpen} onClick={onToggle}>
            <span className={classes(styles.chevron, isOpen && styles.open)}>
              <Icon name="chev" />
            </span>
            <span className={styles.title}>{group.title}</span>
            <span className={classes(ui.soft, ui.numeric, styles.summary)}>{summary}</span>
          </button>
          {offered.length > 1 && (
            <PreviewButton
              className={styles.preview}
              label="Preview this group on the map"
              title={`Preview ${plural(offered.length, 'scene')} on the map`}
              onClick={() =>
                setPreviews(
                  withPreviews(
                    previews,
                    offered.map(({ key }) => key),
                  ),
                )
              }
            />
          )}
        </h3>
      )}
      {isOpen && (
        <ul aria-label={group.title}>
          {group.scenes.slice(0, rows).map((scene) => (
            <SceneRow
              key={scene.key}
              scene={scene}
              price={prices.get(scene.key)}
              area={area}
              isSelected={scene.key === selected?.key}
              isHovered={scene.key === hovered}
              isInCart={inCart.has(scene.key)}
              onHover={onHover}
              onPick={pick}
              isPreviewed={previews.includes(scene.key)}
              onPreview={onPreview}
            />
          ))}
        </ul>
      )}
    </>
  )
}
