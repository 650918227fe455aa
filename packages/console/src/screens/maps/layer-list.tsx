/** The layers of a map from top to bottom, in their groups. They are moved by dragging, or with the arrow keys on their handles. */
import { useState, type DragEvent, type KeyboardEvent, type ReactElement } from 'react'
import { plural } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Button } from '../../ui/kit.ts'
import { classes } from '../../ui/classes.ts'
import { changeGroup, changeLayer, dropLayer, isGone, isShown, nameOf, stepLayer, type Draft, type Group, type Layer } from './draft.ts'
import styles from './layer-list.module.css'
import ui from '../../ui/ui.module.css'

interface ListParts {
  draft: Draft
  selected: string | null
  mayWrite: boolean
  onSelect(id: string): void
  onChange(draft: Draft): void
}

export function LayerList({ draft, selected, mayWrite, onSelect, onChange }: ListParts): ReactElement {
  const [told, setTold] = useState('')
  const [dragged, setDragged] = useState<string | null>(null)
  const move = (layer: Layer, step: -1 | 1) => {
    const after = stepLayer(draft, layer.id, step)
    onChange(after)
    const at = after.layers.findIndex(({ id }) => id === layer.id)
    setTold(`${nameOf(layer)}: position ${at + 1} of ${after.layers.length}${groupText(after, after.layers[at]!)}`)
  }
  const drop = (onto: string) => {
    if (dragged) onChange(dropLayer(draft, dragged, onto))
    setDragged(null)
  }
  return (
    <>
      <ol className={styles.list} aria-label="Layers, from top to bottom">
        {draft.layers.map((layer, index) => {
          const group = draft.groups.find(({ id }) => id === layer.group_id) ?? null
          const isFirst = group !== null && draft.layers[index - 1]?.group_id !== group.id
          return (
            <li key={layer.id}>
              {isFirst && <GroupRow group={group} onChange={(change) => onChange(changeGroup(draft, group.id, change))} />}
              <LayerRow
                {...{ draft, layer, mayWrite }}
                isSelected={layer.id === selected}
                isDragged={layer.id === dragged}
                onSelect={() => onSelect(layer.id)}
                onToggle={() => onChange(changeLayer(draft, layer.id, { visible: !layer.visible }))}
                onMove={(step) => move(layer, step)}
                onDragged={setDragged}
                onDropped={() => drop(layer.id)}
              />
            </li>
          )
        })}
      </ol>
      <p className={ui.screenReaderOnly} role="status">
        {told}
      </p>
    </>
  )
}

const groupText = ({ groups }: Draft, { group_id }: Layer): string => {
  const group = groups.find(({ id }) => id === group_id)
  return group ? ` in ${group.name}` : ''
}

const GroupRow = ({ group, onChange }: { group: Group; onChange(change: Partial<Group>): void }): ReactElement => (
  <div className={styles.group}>
    <Button
      variant="quiet"
      size="s"
      icon={group.visible ? 'eye' : 'min'}
      label={`${group.visible ? 'Hide' : 'Show'} group ${group.name}`}
      onClick={() => onChange({ visible: !group.visible })}
    />
    <Icon name="folder" />
    <b className={classes(ui.grow, ui.ellipsis)}>{group.name}</b>
  </div>
)

interface RowParts {
  draft: Draft
  layer: Layer
  mayWrite: boolean
  isSelected: boolean
  isDragged: boolean
  onSelect(): void
  onToggle(): void
  onMove(step: -1 | 1): void
  onDragged(id: string | null): void
  onDropped(): void
}

function LayerRow({ draft, layer, mayWrite, isSelected, isDragged, ...on }: RowParts): ReactElement {
  const name = nameOf(layer)
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : null
    if (step === null) return
    event.preventDefault()
    on.onMove(step)
  }
  const dragging = mayWrite
    ? {
        draggable: true,
        onDragStart: (event: DragEvent) => {
          event.dataTransfer.effectAllowed = 'move'
          event.dataTransfer.setData('text/plain', name)
          on.onDragged(layer.id)
        },
        onDragEnd: () => on.onDragged(null),
        onDragOver: (event: DragEvent) => event.preventDefault(),
        onDrop: (event: DragEvent) => {
          event.preventDefault()
          on.onDropped()
        },
      }
    : {}
  return (
    <div
      className={classes(
        styles.layer,
        layer.group_id !== null && styles.inGroup,
        isSelected && styles.selected,
        isDragged && styles.dragged,
        !isShown(draft, layer) && styles.hidden,
      )}
      {...dragging}
    >
      <Button
        variant="quiet"
        size="s"
        icon={layer.visible ? 'eye' : 'min'}
        label={`${layer.visible ? 'Hide' : 'Show'} ${name}`}
        onClick={on.onToggle}
      />
      <button type="button" className={classes(styles.name, ui.grow)} aria-expanded={isSelected} onClick={on.onSelect}>
        <b className={classes(ui.ellipsis, ui.block)}>{name}</b>
        <span className={classes(ui.soft, ui.small, ui.ellipsis, ui.block)}>{aboutOf(layer)}</span>
      </button>
      {mayWrite && (
        <button
          type="button"
          className={styles.handle}
          aria-label={`Move ${name}`}
          title="Drag, or press the up and down arrow keys"
          onKeyDown={onKey}
        >
          <Icon name="grip" />
        </button>
      )}
    </div>
  )
}

function aboutOf(layer: Layer): string {
  if (isGone(layer)) return 'Deleted, or no longer in this project'
  const kind = layer.features ? `Vector, ${plural(layer.features.length, 'shape')}` : layer.collection_id ? 'Collection' : 'Item'
  const opacity = layer.opacity < 1 ? [`${Math.round(layer.opacity * 100)}%`] : []
  return [kind, ...opacity, ...(layer.blend === 'normal' ? [] : [layer.blend])].join(', ')
}
