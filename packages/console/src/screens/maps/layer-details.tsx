/** What can be changed about the selected layer: name, opacity, blending, style, colour and group. */
import type { ReactElement } from 'react'
import { useOp } from '../../api/query.ts'
import type { Box } from '../../map/geo.ts'
import { sharedMap } from '../../map/shared-map.ts'
import { usePresets } from '../../state/use-presets.ts'
import { Button, Choice, Field, LinkButton } from '../../ui/kit.ts'
import { classes } from '../../ui/classes.ts'
import { isGone, nameOf, type Blend, type Draft, type Layer } from './draft.ts'
import { DEFAULT_COLOUR } from './use-map-layers.ts'
import styles from './layer-details.module.css'
import fieldStyles from '../../ui/field.module.css'
import workspaceStyles from '../../parts/workspace.module.css'
import ui from '../../ui/ui.module.css'

const BLENDS: readonly { value: Blend; text: string }[] = [
  { value: 'normal', text: 'Normal' },
  { value: 'multiply', text: 'Multiply' },
  { value: 'screen', text: 'Screen' },
  { value: 'darken', text: 'Darken' },
  { value: 'lighten', text: 'Lighten' },
  { value: 'add', text: 'Add' },
]

interface DetailsParts {
  draft: Draft
  layer: Layer
  onChange(change: Partial<Layer>): void
  onGroup(name: string): void
  onRenameGroup(id: string, name: string): void
  onRemove(): void
}

export function LayerDetails({ draft, layer, onChange, onGroup, onRenameGroup, onRemove }: DetailsParts): ReactElement {
  const group = draft.groups.find(({ id }) => id === layer.group_id)
  const opacity = `${Math.round(layer.opacity * 100)}%`
  return (
    <section className={classes(workspaceStyles.section, styles.details)} aria-label={`Layer ${nameOf(layer)}`}>
      <h3>{nameOf(layer)}</h3>
      <Field
        label="Name"
        maxLength={200}
        value={layer.name ?? ''}
        placeholder={layer.source_name ?? 'Shapes'}
        onChange={(event) => onChange({ name: event.target.value.trim() === '' ? null : event.target.value })}
      />
      <div>
        <label className={classes(ui.flexRow, ui.between)}>
          <span className={fieldStyles.label}>Opacity</span>
          <span className={classes(ui.soft, ui.numeric)}>{opacity}</span>
        </label>
        <input
          type="range"
          aria-label={`Opacity of ${nameOf(layer)}`}
          min={0}
          max={1}
          step={0.01}
          value={layer.opacity}
          onChange={(event) => onChange({ opacity: Number(event.target.value) })}
        />
      </div>
      {layer.features === null ? (
        <Choice
          label="Blending"
          value={layer.blend}
          onChange={(event) => onChange({ blend: event.target.value as Blend })}
          options={BLENDS}
        />
      ) : (
        <Field
          label="Colour"
          type="color"
          value={layer.color ?? DEFAULT_COLOUR}
          onChange={(event) => onChange({ color: event.target.value })}
        />
      )}
      {layer.item_id !== null && !isGone(layer) && <ItemStyle itemId={layer.item_id} layer={layer} onChange={onChange} />}
      {layer.collection_id !== null && <StyleChoice layer={layer} presets={COLLECTION_STYLES} onChange={onChange} />}
      {draft.groups.length > 0 && <GroupChoice {...{ draft, layer, onChange }} />}
      {group && (
        <Field
          label="Name of the group"
          maxLength={200}
          value={group.name}
          onChange={(event) => onRenameGroup(group.id, event.target.value)}
        />
      )}
      <div className={classes(ui.flexRow, ui.gap6, ui.wrap)}>
        {layer.item_id !== null && !isGone(layer) && <ItemActions itemId={layer.item_id} />}
        <Button size="s" icon="folder" onClick={() => onGroup(`Group ${draft.groups.length + 1}`)}>
          New group
        </Button>
        <Button size="s" icon="trash" onClick={onRemove}>
          Remove layer
        </Button>
      </div>
    </section>
  )
}

interface Named {
  id: string
  label: string
}

/** Of items with the usual bands; a saved profile belongs to one item. */
const COLLECTION_STYLES: readonly Named[] = [
  { id: 'rgb', label: 'Natural colour' },
  { id: 'cir', label: 'Colour infrared' },
  { id: 'ndvi', label: 'NDVI' },
  { id: 'ndwi', label: 'NDWI' },
]

type StyleParts = Pick<DetailsParts, 'layer' | 'onChange'>

function ItemStyle({ itemId, ...parts }: StyleParts & { itemId: string }): ReactElement {
  const { presets } = usePresets(itemId, null, true)
  return <StyleChoice {...parts} presets={presets} />
}

const NO_STYLE = { profile: null, asset_key: null, bands: null, expression: null, colormap: null, rescale: null }
const OWN = 'own'

/** A style that was made in the viewer has no name; it stays until another one is chosen. */
function StyleChoice({ layer: { style }, presets, onChange }: StyleParts & { presets: readonly Named[] }): ReactElement {
  const isKnown = style === null || presets.some(({ id }) => id === style.profile)
  const own = style?.expression ?? (style?.bands ? `Bands ${style.bands}` : (style?.profile ?? 'As in the viewer'))
  return (
    <Choice
      label="Style"
      value={isKnown ? (style?.profile ?? '') : OWN}
      onChange={({ target: { value } }) => value !== OWN && onChange({ style: value === '' ? null : { ...NO_STYLE, profile: value } })}
      options={[
        { value: '', text: 'Default style' },
        ...(isKnown ? [] : [{ value: OWN, text: own }]),
        ...presets.map(({ id, label }) => ({ value: id, text: label })),
      ]}
    />
  )
}

function GroupChoice({ draft: { groups }, layer, onChange }: Pick<DetailsParts, 'draft' | 'layer' | 'onChange'>): ReactElement {
  return (
    <Choice
      label="Group"
      value={layer.group_id ?? ''}
      onChange={({ target: { value } }) => onChange({ group_id: value || null })}
      options={[{ value: '', text: 'No group' }, ...groups.map(({ id, name }) => ({ value: id, text: name }))]}
    />
  )
}

function ItemActions({ itemId }: { itemId: string }): ReactElement {
  const item = useOp('items.get', { item_id: itemId }, { staleTime: 60_000 })
  const box = item.data?.item.bbox as Box | null | undefined
  return (
    <>
      {box && (
        <Button size="s" icon="zoomin" onClick={() => sharedMap().fit(box)}>
          Zoom to layer
        </Button>
      )}
      <LinkButton size="s" icon="image" to="/view/$item" params={{ item: itemId }}>
        Open item
      </LinkButton>
    </>
  )
}
