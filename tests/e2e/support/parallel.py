"""Several calls at once."""
import threading

from support.waiting import PATIENCE_SECONDS


def in_parallel(function, items):
    """[function(item) …], all at once and all started together; raises the first failure."""
    items = list(items)
    results = [None] * len(items)
    faults = []
    start = threading.Barrier(len(items))

    def work(index):
        try:
            start.wait(PATIENCE_SECONDS)
            results[index] = function(items[index])
        except BaseException as fault:  # handed to the caller below
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(len(items))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    return results
