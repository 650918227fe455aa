/** Draft orders of the member: saves the cart under a name, and opens a draft with today's prices. */
import { useState, type FormEvent, type ReactElement } from 'react'
import { call } from '../../api/client.ts'
import { useAct, useOp } from '../../api/query.ts'
import { currentCart, replaceCart, type ChosenScene } from '../../state/cart.ts'
import { deleteLater } from '../../state/delete-later.ts'
import { captureFrom, chosenFrom } from '../../state/draft-captures.ts'
import { changesSince, openedDraft, quote, type PriceChange } from '../../state/quote.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { audOfCredits, dateTime, dateTimeShort, plural } from '../../ui/format.ts'
import { Button, Field, Note } from '../../ui/kit.ts'
import { Empty, FormProblem, Loaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { classes } from '../../ui/classes.ts'
import listStyles from '../../ui/list.module.css'
import ui from '../../ui/ui.module.css'

/** Buttons that open the dialogs, for the header of a page. */
export function DraftButtons({ cart }: { cart: readonly ChosenScene[] }): ReactElement {
  const [dialog, setDialog] = useState<'save' | 'list' | null>(null)
  const close = () => setDialog(null)
  return (
    <>
      {cart.length > 0 && <Button onClick={() => setDialog('save')}>Save as draft</Button>}
      <Button onClick={() => setDialog('list')}>Draft orders</Button>
      {dialog === 'save' && <SaveDraft cart={cart} onClose={close} />}
      {dialog === 'list' && <DraftList onClose={close} />}
    </>
  )
}

function SaveDraft({ cart, onClose }: { cart: readonly ChosenScene[]; onClose(): void }): ReactElement {
  const [name, setName] = useState(openedDraft.get()?.name ?? '')
  const save = useAct('orders.drafts.save', ['orders.drafts'])
  const [isPricing, setPricing] = useState(false)
  const send = async () => {
    setPricing(true)
    // Without prices the draft is still worth keeping.
    const quotes = await quote(cart).catch(() => new Map<string, { credits: number | null }>())
    setPricing(false)
    const captures = cart.map((scene) => captureFrom(scene, quotes.get(scene.key)?.credits ?? null))
    save.mutate(
      { name: name.trim(), captures },
      {
        onSuccess: () => {
          toast('Draft saved')
          onClose()
        },
      },
    )
  }
  return (
    <Dialog title="Save as draft" onClose={onClose}>
      <form
        className={classes(ui.flexColumn, ui.gap12)}
        onSubmit={(event: FormEvent) => {
          event.preventDefault()
          void send()
        }}
      >
        <Field
          label="Name"
          required
          maxLength={255}
          data-autofocus
          value={name}
          onChange={(event) => setName(event.target.value)}
          help="Only you see your drafts. A draft of the same name is replaced."
        />
        <FormProblem error={save.error} />
        <div className={classes(ui.flexRow, ui.justifyEnd)}>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" busy={isPricing || save.isPending} disabled={name.trim() === ''}>
            Save draft
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Prices are those of today: whatever changed is shown with the order. */
async function openDraft(id: string, name: string): Promise<void> {
  const { draft } = await call('orders.drafts.get', { draft_id: id })
  const captures = draft?.captures ?? []
  const scenes = captures.map(chosenFrom)
  const changes = changesSince(captures, scenes, await quote(scenes))
  const before = currentCart()
  openedDraft.set({ name, changes })
  replaceCart(scenes)
  const undo = { text: 'Undo', run: () => replaceCart(before) }
  toast(`Opened ${name}`, 'ok', before.length > 0 ? undo : undefined)
}

function DraftList({ onClose }: { onClose(): void }): ReactElement {
  const list = useOp('orders.drafts.list', {})
  const [opening, setOpening] = useState<string | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const open = (id: string, name: string) => {
    setOpening(id)
    setError(null)
    openDraft(id, name)
      .then(onClose)
      .catch((cause: unknown) => setError(cause instanceof Error ? cause : new Error(String(cause))))
      .finally(() => setOpening(null))
  }
  return (
    <Dialog title="Draft orders" onClose={onClose} size={620}>
      <FormProblem error={error} />
      <Loaded
        query={list}
        rows={3}
        empty={({ drafts }) =>
          drafts.every(({ name }) => name === null) && (
            <Empty icon="cart" title="No draft orders yet">
              Add scenes to the cart, then save it as a draft under a name.
            </Empty>
          )
        }
      >
        {({ drafts }) => (
          <ul>
            {drafts.map(
              ({ id, name, capture_count, updated_at }) =>
                name !== null && (
                  <li key={id} className={listStyles.withActions}>
                    <div className={ui.grow}>
                      <b className={ui.ellipsis}>{name}</b>
                      <div className={classes(ui.soft, ui.small)}>
                        {plural(capture_count, 'scene')}, saved {dateTimeShort(updated_at)} UTC
                      </div>
                    </div>
                    <Button size="s" label={`Open ${name}`} busy={opening === id} onClick={() => open(id, name)}>
                      Open
                    </Button>
                    <Button
                      size="s"
                      variant="quiet"
                      icon="trash"
                      label={`Delete ${name}`}
                      onClick={() =>
                        deleteLater({ operation: 'orders.drafts.delete', input: { draft_id: id }, name, touches: ['orders.drafts'] })
                      }
                    />
                  </li>
                ),
            )}
          </ul>
        )}
      </Loaded>
    </Dialog>
  )
}

/** What costs something else than when the draft was saved. */
export function DraftChanges(): ReactElement | null {
  const opened = openedDraft.use()
  if (!opened) return null
  const { name, changes } = opened
  return (
    <div className={ui.marginBottom16}>
      <Note
        tone={changes.length > 0 ? 'warn' : 'ok'}
        icon={changes.length > 0 ? 'warn' : 'info'}
        actions={
          <Button size="s" onClick={() => openedDraft.set(null)}>
            Dismiss
          </Button>
        }
      >
        {changes.length === 0 ? (
          <>Prices of draft &apos;{name}&apos; have not changed since it was saved.</>
        ) : (
          <>
            Prices of draft &apos;{name}&apos; have changed since it was saved, each scene ordered alone:
            <ul>
              {changes.map((change) => (
                <li key={change.scene.key}>{changeText(change)}</li>
              ))}
            </ul>
          </>
        )}
      </Note>
    </div>
  )
}

function changeText({ scene, before, after, refusal }: PriceChange): string {
  const what = `${scene.source} of ${dateTime(scene.datetime)}`
  const price = (credits: number | null) => (credits === null ? 'no price' : audOfCredits(credits))
  return refusal ? `${what} can no longer be ordered: ${refusal}` : `${what}: ${price(before)}, now ${price(after)}`
}
