#include <cstdio>

int main() {
    std::puts("holdfast " HOLDFAST_VERSION);
    return 0;
}
