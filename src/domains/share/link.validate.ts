import { notFound, problem } from '#core/problem.ts'
import { Closed, Described } from '#core/shapes.ts'
import * as shareTargets from '#model/sharing/share-target.ts'
import { operation } from '#operation.ts'
import { toTarget } from './target.lib.ts'
import { TargetRecord } from './target.wire.ts'
import { EXAMPLE_PASSWORD, EXAMPLE_TARGET, EXAMPLE_TOKEN, Password, Permission, Target, Token } from './wire.ts'

/** Opens a link for a visitor: returns the shared object, its visualizations and, if permitted, its files. */
export default operation({
  id: 'share.link.validate',
  scope: 'shares:read',
  tier: 'read',
  public: true,
  input: Closed({ token: Token, password: Described(Password, 'Password of the share link') }),
  output: Closed(
    {
      permission: Described(Permission, 'Whether visitors can only view, or also download'),
      target_type: Described(Target, 'Type of the shared object'),
      target: Described(TargetRecord, 'The shared item, collection or map'),
    },
    { description: 'The shared item, collection or map, with a grant' },
  ),
  example: {
    input: { token: EXAMPLE_TOKEN, password: EXAMPLE_PASSWORD },
    output: { permission: 'view', target_type: 'item', target: EXAMPLE_TARGET },
  },
}).handle({
  async check({ db, shares }, { token, password }) {
    const share = await shares.open(token, password ?? '', 'all')
    if (share.scope.kind !== 'link') throw problem('bad-request', 'This grant is for a part of the link; send the token and the password')
    const target = await shares.limit(() => shareTargets.find(db, share.link))
    if (!target) throw notFound(share.link.targetType)
    return { share, target }
  },
  async execute(context, _input, { share, target }) {
    const { link } = share
    context.attributeTo(link.organizationId)
    const response = { permission: link.permission, target_type: link.targetType, target: await toTarget(context, share, target) }
    await share.count()
    return response
  },
})
