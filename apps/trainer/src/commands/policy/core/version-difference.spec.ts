import { groupDifferences, groupOf, settingDifferences, tensorSums } from './version-difference';

describe('groupOf', () => {
  it.each([
    {
      name: 'base_model.model.model.layers.11.self_attn.q_proj.lora_A.weight',
      group: 'self_attn.q_proj.lora_A',
      why: 'blocks are taken together, the two matrices of an adapter are not',
    },
    { name: 'model.layers.0.input_layernorm.weight', group: 'input_layernorm', why: 'a norm of each block' },
    { name: 'model.layers.3.self_attn.q_proj.bias', group: 'self_attn.q_proj.bias', why: 'a bias is no matrix' },
    { name: 'model.embed_tokens.weight', group: 'embed_tokens', why: 'there is one' },
    { name: 'lm_head.weight', group: 'lm_head', why: 'outside of the model proper' },
  ])('$group: $why', ({ name, group }) => {
    expect(groupOf(name)).toBe(group);
  });
});

describe('groupDifferences', () => {
  const layer = (n: number): string => `model.layers.${n}.mlp.up_proj.weight`;
  it('sums over the tensors of a group before it takes the root', () => {
    const [group] = groupDifferences(
      new Map([
        [layer(0), tensorSums(Float32Array.of(3, 0), Float32Array.of(0, 0))],
        [layer(1), tensorSums(Float32Array.of(0, 4), Float32Array.of(0, 8))],
      ]),
    );
    expect(group).toEqual({
      group: 'mlp.up_proj',
      tensors: 2,
      parameters: 4,
      distance: 5,
      relative: 1,
      cosine: 32 / (5 * 8),
    });
  });
  it.each([
    { a: [1, 2], b: [2, 4], cosine: 1, why: 'the same direction' },
    { a: [1, 2], b: [-1, -2], cosine: -1, why: 'the opposite one' },
    { a: [0, 0], b: [1, 0], cosine: null, why: 'zero has no direction' },
  ])('has the cosine $cosine: $why', ({ a, b, cosine }) => {
    const [group] = groupDifferences(new Map([[layer(0), tensorSums(Float32Array.from(a), Float32Array.from(b))]]));
    if (cosine === null) expect([group!.cosine, group!.relative]).toEqual([null, null]);
    else expect(group!.cosine).toBeCloseTo(cosine, 12);
  });
  it('ends with all groups together', () => {
    const sums = new Map([
      [layer(0), tensorSums(Float32Array.of(1), Float32Array.of(4))],
      ['lm_head.weight', tensorSums(Float32Array.of(0), Float32Array.of(4))],
    ]);
    expect(groupDifferences(sums).map(({ group, distance }) => [group, distance])).toEqual([
      ['mlp.up_proj', 3],
      ['lm_head', 4],
      ['all', 5],
    ]);
    expect(groupDifferences(new Map())).toEqual([]);
  });
});

describe('settingDifferences', () => {
  it('names what differs, however deep, and nothing else', () => {
    const a = { learningRate: 1, loss: { klCoef: 0, clip: { epsilonLow: 0.2 } }, tuning: { targets: ['q_proj'] } };
    const b = {
      learningRate: 1,
      loss: { klCoef: 0.3, clip: { epsilonLow: 0.2 } },
      tuning: { targets: ['v_proj'] },
      x: 1,
    };
    expect(settingDifferences(a, b)).toEqual([
      { name: 'loss.klCoef', a: 0, b: 0.3 },
      { name: 'tuning.targets', a: ['q_proj'], b: ['v_proj'] },
      { name: 'x', a: null, b: 1 },
    ]);
  });
});
