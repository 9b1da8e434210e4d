import { engineOrder, type EngineView, type EngineWish } from './engine-order';

const view = (engine: string, overrides: Partial<EngineView> = {}): EngineView => ({
  engine,
  isOpenForRequests: true,
  isHealthy: true,
  inFlight: 0,
  ...overrides,
});
const wish = (overrides: { holders?: string[]; onlyHolders?: boolean; tried?: string[] } = {}): EngineWish => ({
  holders: new Set(overrides.holders),
  onlyHolders: overrides.onlyHolders ?? false,
  tried: new Set(overrides.tried),
});

describe('engine order', () => {
  it.each([
    { why: 'equals keep their turn', views: [view('b'), view('a')], of: wish(), order: ['b', 'a'] },
    {
      why: 'the least busy first',
      views: [view('a', { inFlight: 3 }), view('b', { inFlight: 1 }), view('c', { inFlight: 2 })],
      of: wish(),
      order: ['b', 'c', 'a'],
    },
    {
      why: 'who holds the model before who is idle',
      views: [view('a'), view('b', { inFlight: 9 })],
      of: wish({ holders: ['b'] }),
      order: ['b', 'a'],
    },
    {
      why: 'another engine than the one that failed, although it may lack the model',
      views: [view('a', { inFlight: 1 }), view('b')],
      of: wish({ holders: ['a'], tried: ['a'] }),
      order: ['b', 'a'],
    },
    {
      why: 'nobody else could answer',
      views: [view('a'), view('b')],
      of: wish({ holders: ['a'], onlyHolders: true, tried: ['a'] }),
      order: ['a'],
    },
    {
      why: 'an unhealthy engine only after all healthy ones, even those that failed',
      views: [view('a', { isHealthy: false }), view('b', { inFlight: 9 })],
      of: wish({ holders: ['a'], tried: ['b'] }),
      order: ['b', 'a'],
    },
    {
      why: 'all unhealthy: tried anyway',
      views: [view('a', { isHealthy: false, inFlight: 1 }), view('b', { isHealthy: false })],
      of: wish(),
      order: ['b', 'a'],
    },
    {
      why: 'an open circuit is out',
      views: [view('a', { isOpenForRequests: false }), view('b', { isHealthy: false })],
      of: wish(),
      order: ['b'],
    },
    { why: 'all circuits open', views: [view('a', { isOpenForRequests: false })], of: wish(), order: [] },
    {
      why: 'nobody holds what only holders can answer',
      views: [view('a')],
      of: wish({ onlyHolders: true }),
      order: [],
    },
  ])('$why: $order', ({ views, of, order }) => expect(engineOrder(views, of)).toEqual(order));
});
